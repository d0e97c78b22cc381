// Small fixed addresses that browsers, crawlers and researchers look at: password change, tracking, security, robots.

import type { FastifyReply } from 'fastify'
import type { Config } from '../../config/index.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Area } from '../plugins/types.ts'

/** RFC 9116 wants a date less than a year ahead. */
const EXPIRES_MS = 180 * 86_400_000

const DNT_POLICY = `Requests with "DNT: 1" are treated like all others here: this server follows nobody across sites, makes no
profiles of visitors, and gives nothing about them to third parties.
`

export function wellKnownArea({ config, clock }: { config: () => Config; clock: Clock }): Area {
  const hidden = { schema: { hide: true } }
  const text = (reply: FastifyReply, body: string, maxAgeS: number) =>
    reply
      .headers({ 'content-type': 'text/plain; charset=utf-8', 'cache-control': `max-age=${Math.round(maxAgeS)}` })
      .send(body)

  /** The configured text, or the address of who runs the server. */
  function securityTxt(): string {
    const { instance, admin } = config()
    if (instance.securitytxt.trim() !== '') return `${instance.securitytxt.trimEnd()}\n`
    return `Contact: mailto:${admin.email}\nExpires: ${new Date(clock.now().getTime() + EXPIRES_MS).toISOString()}\n`
  }

  return (app) => {
    app.get('/.well-known/change-password', hidden, (_request, reply) => reply.redirect('/my-account/settings', 302))
    for (const path of ['/.well-known/dnt', '/.well-known/dnt/']) app.get(path, hidden, async () => ({ tracking: 'N' }))
    app.get('/.well-known/dnt-policy.txt', hidden, (_request, reply) =>
      text(reply, DNT_POLICY, config().vireo.caching.routes.dnt_policy / 1000),
    )
    app.get('/.well-known/security.txt', hidden, (_request, reply) =>
      text(reply, securityTxt(), config().vireo.caching.routes.securitytxt / 1000),
    )
    app.get('/security.txt', hidden, (_request, reply) => reply.redirect('/.well-known/security.txt', 301))
    app.get('/robots.txt', hidden, (_request, reply) =>
      text(reply, config().instance.robots, config().vireo.caching.routes.robots / 1000),
    )
  }
}
