// The routes of the running application, each with the name used in rows.

import type { RouteOptions } from 'fastify'

export interface Route {
  /** Such as `GET /api/v1/videos/:id`; ActivityPub documents have the suffix ` (ActivityPub)`. */
  name: string
  method: string
  /** The path as registered, without the patterns of its parameters. */
  url: string
  schema: RouteOptions['schema']
  config: RouteOptions['config']
}

export interface RouteList {
  routes: Route[]
  /** For the option `onRoute` of the application. */
  onRoute: (route: RouteOptions) => void
}

/** Collects routes. HEAD is no separate route where GET exists. */
export function makeRouteList(): RouteList {
  const routes: Route[] = []
  return {
    routes,
    onRoute({ method, url: added, schema, config, constraints }) {
      const url = withoutPatterns(added)
      const methods = [method].flat()
      const names = methods.length > SEVERAL ? ['ANY'] : methods.filter((one) => !(one === 'HEAD' && hasGet(url, methods)))
      const suffix = constraints && 'activityPub' in constraints ? ' (ActivityPub)' : ''
      for (const one of names) {
        const name = `${one} ${withoutVersion(url)}${suffix}`
        routes.push({ name, method: one === 'ANY' ? 'PATCH' : one, url, schema, config })
      }
    },
  }

  function hasGet(url: string, methods: string[]): boolean {
    return methods.includes('GET') || routes.some((route) => route.url === url && route.method === 'GET')
  }
}

/** More methods than any route lists: it accepts all. */
const SEVERAL = 5

const withoutPatterns = (url: string): string => url.replace(/(:\w+)\([^)]*\)/g, '$1')

/** Assets have a version or a content hash in their names. */
const withoutVersion = (url: string): string => url.replace(/^(\/assets\/[a-z]+)-[\w.]+?(\.[a-z]+)$/, '$1-VERSION$2')
