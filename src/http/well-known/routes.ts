// Small fixed addresses for browsers, crawlers and researchers: password change, tracking, security, robots.

import { fileURLToPath } from 'node:url'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { type Config, isMailEnabled, publicAddress } from '../../config/index.ts'
import type { Clock } from '../../platform/clock.ts'
import { realFolder } from '../../platform/folder.ts'
import { HttpError } from '../plugins/http-error.ts'
import { redirect } from '../plugins/redirect.ts'
import type { Area } from '../plugins/types.ts'
import { sendFromFolder } from '../static/send-from-folder.ts'

/** RFC 9116 wants a date less than a year ahead. */
const EXPIRES_MS = 180 * 86_400_000

/** Includes an own text about tracking: the well-known policy promises more than a server can know about its operator. */
const OWN_FILES = fileURLToPath(new URL('files', import.meta.url))
const NEVER_KEPT = 'no-cache, no-store, must-revalidate'

export interface WellKnownDeps {
  config: () => Config
  clock: Clock
  urls: { origin: string }
}

export function wellKnownArea({ config, clock, urls }: WellKnownDeps): Area {
  const hidden = { schema: { hide: true } }
  const text = (reply: FastifyReply, body: string, maxAgeS: number) =>
    reply.headers({ 'content-type': 'text/plain; charset=utf-8', 'cache-control': `max-age=${Math.round(maxAgeS)}` }).send(body)

  /** The configured text, or the contact of the operator (RFC 9116). */
  function securityTxt(): string {
    const { instance } = config()
    if (instance.securitytxt.trim() !== '') return `${instance.securitytxt.trimEnd()}\n`
    return `Contact: ${contactOf(config(), urls.origin)}\nExpires: ${new Date(clock.now().getTime() + EXPIRES_MS).toISOString()}\n`
  }

  /** A file of the administrator, or the built-in one. */
  async function file(request: FastifyRequest, reply: FastifyReply, { path, maxAgeMs }: { path: string; maxAgeMs: number }) {
    const cacheControl = `max-age=${Math.round(maxAgeMs / 1000)}`
    for (const folder of [config().storage.well_known, OWN_FILES]) {
      const root = await realFolder(folder)
      if (root && (await sendFromFolder(request, reply, { root, path, cacheControl }))) return reply
    }
    throw new HttpError(404, 'There is nothing here.', { code: 'Error', headers: { 'cache-control': NEVER_KEPT } })
  }

  return (app) => {
    app.get('/.well-known/change-password', hidden, (_request, reply) => redirect(reply, 302, '/my-account/settings'))
    app.get('/.well-known/dnt', hidden, async () => ({ tracking: 'N' }))
    app.get('/.well-known/dnt-policy.txt', hidden, (request, reply) =>
      file(request, reply, { path: 'dnt-policy.txt', maxAgeMs: config().vireo.caching.routes.dnt_policy }),
    )
    app.get('/.well-known/*', { schema: { params: z.object({ '*': z.string() }), hide: true } }, (request, reply) =>
      file(request, reply, { path: request.params['*'], maxAgeMs: config().vireo.caching.routes.well_known }),
    )
    app.get('/.well-known/security.txt', hidden, (_request, reply) =>
      text(reply, securityTxt(), config().vireo.caching.routes.securitytxt / 1000),
    )
    app.get('/security.txt', hidden, (_request, reply) => redirect(reply, 301, '/.well-known/security.txt'))
    app.get('/robots.txt', hidden, (_request, reply) => text(reply, config().instance.robots, config().vireo.caching.routes.robots / 1000))
  }
}

/** The contact form; otherwise the operator's address, if it is public; otherwise the about page. */
function contactOf(config: Config, origin: string): string {
  if (config.contact_form.enabled && isMailEnabled(config)) return `${origin}/about/contact`
  const address = publicAddress(config)
  return address === undefined ? `${origin}/about/instance` : `mailto:${address}`
}
