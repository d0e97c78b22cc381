// The operations of the API by name, such as `GET /api/v1/users`: the pages read their schemas and who may call them.

import type { RouteOptions } from 'fastify'
import type { App } from './types.ts'

/** Adds `app.operationOf`, for all routes of the API that are added after it. */
export function addOperations(app: App): void {
  const operations = new Map<string, RouteOptions>()
  app.decorate('operationOf', (name) => {
    const found = operations.get(name)
    if (!found) throw new Error(`There is no operation ${name}.`)
    return found
  })
  app.addHook('onRoute', (route) => {
    if (!route.url.startsWith('/api/v1/')) return
    for (const method of [route.method].flat()) operations.set(`${method} ${route.url}`, route)
  })
}
