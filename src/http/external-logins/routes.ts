// Logins with OpenID Connect at the addresses that clients expect of plugins: where they begin, and where the provider sends the browser back.

import { z } from 'zod'
import { type BrowserLogins, callbackPath, kinds } from '../../actors/external-login/index.ts'
import { DomainError } from '../../actors/runtime/index.ts'
import type { Logger } from '../../platform/logger.ts'
import { localPath } from '../plugins/local-path.ts'
import type { Area } from '../plugins/types.ts'
import { makeLoginCookie } from './cookie.ts'

const { name } = kinds['openid-connect']
const LONGEST_NEXT = 2000

const begun = z.object({ version: z.string(), authName: z.string() })
const options = { schema: { hide: true }, config: { limits: ['client', 'login'] } } as const

export function externalLoginsArea(deps: { externalLogins: BrowserLogins; urls: { origin: string }; logger: Logger }): Area {
  const { externalLogins, urls, logger } = deps
  const cookie = makeLoginCookie(urls)

  return (app) => {
    // Any version: the address may have been stored by a client of an earlier one.
    app.get(`/plugins/${name}/:version/auth/:authName`, { ...options, schema: { hide: true, params: begun } }, async (request, reply) => {
      const { next } = z.object({ next: z.string().max(LONGEST_NEXT).optional().catch(undefined) }).parse(request.query)
      const { address, sealed } = await externalLogins.begin(request.params.authName, localPath(next))
      cookie.write(reply, sealed)
      return reply.header('cache-control', 'no-store').redirect(address, 302)
    })

    app.get(
      callbackPath(':authName').replace('%3A', ':'),
      { ...options, schema: { hide: true, params: begun.pick({ authName: true }) } },
      async (request, reply) => {
        reply.header('cache-control', 'no-store')
        const query = request.url.split('?')[1] ?? ''
        try {
          const { username, token, next } = await externalLogins.finish(request.params.authName, cookie.read(request) ?? '', query)
          cookie.write(reply, token)
          const search = new URLSearchParams({ externalAuthToken: token, username, ...(next === '/' ? {} : { next }) })
          return reply.redirect(`/login?${search}`, 302)
        } catch (error) {
          if (!(error instanceof DomainError)) throw error
          // The reason is for the administrator; the browser learns that it did not work.
          logger.warn({ err: error, login: request.params.authName }, 'a login with another system was refused')
          cookie.clear(reply)
          return reply.redirect('/login?externalAuthError=true', 302)
        }
      },
    )
  }
}
