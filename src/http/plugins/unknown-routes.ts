// Unknown routes: 404, or 405 with Allow if the path exists for other methods; always a problem body.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { acceptConstraint } from './accept-constraint.ts'
import { HttpError } from './http-error.ts'
import type { App } from './types.ts'

interface Known {
  methods: Set<string>
  pattern: RegExp
}

/** Observes the routes that are added after it, and handles all others. */
export function addUnknownRoutes(app: App): void {
  const known = new Map<string, Known>()

  app.addHook('onRoute', ({ url, method }) => {
    if (url.includes('*')) return
    const entry = known.get(url) ?? { methods: new Set(), pattern: patternOf(url) }
    for (const name of [method].flat()) entry.methods.add(name)
    known.set(url, entry)
  })

  function refuse(request: FastifyRequest, _reply: FastifyReply): never {
    const path = request.url.split('?', 1)[0] ?? ''
    const methods = [...known.values()].filter(({ pattern }) => pattern.test(path)).flatMap((entry) => [...entry.methods])
    if (methods.length === 0 || methods.includes(request.method)) throw new HttpError(404, 'There is nothing here.')
    const allow = [...new Set([...methods, 'OPTIONS'])].sort().join(', ')
    if (request.method === 'OPTIONS') throw new HttpError(404, 'There is nothing here.', { headers: { allow } })
    throw new HttpError(405, `${request.method} is not possible here.`, { headers: { allow } })
  }

  app.setNotFoundHandler(refuse)
  // A page that matches every path must not match those of the API, except for versions that never existed: there browsers get it.
  app.all('/api/v1/*', { schema: { hide: true } }, refuse)
  app.get('/api/*', { schema: { hide: true }, constraints: acceptConstraint('other') }, refuse)
}

/** A regular expression for a route pattern: parameters match one segment, or their own expression; a trailing slash is ignored. */
function patternOf(url: string): RegExp {
  const source = url
    .split(/(:\w+(?:\([^)]*\))?)/)
    .map((piece) => {
      if (!piece.startsWith(':')) return RegExp.escape(piece)
      return /\(([^)]*)\)$/.exec(piece)?.[1] ?? '[^/]+'
    })
    .join('')
  return new RegExp(`^${source}/?$`)
}
