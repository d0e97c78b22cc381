// Login and logout without a script. The session is one of the API's, with its limits and two-factor login; its token is stored in a cookie
// that only the pages read.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../../actors/runtime/index.ts'
import { isMailEnabled } from '../../config/index.ts'
import { loginBody, logoutBody, signedInBody } from './bodies/login.ts'
import { formOf, queryOf } from './fields.ts'
import { localPath } from './local-path.ts'
import { type PageTools, pageOptions } from './send.ts'

/** Messages for the codes of a refused login; other refusals have their own. */
const PROBLEMS: Readonly<Record<string, string>> = {
  invalid_grant: 'The user name or the password is not right.',
  missing_two_factor: 'Type the one-time code of your authenticator app too.',
  invalid_two_factor: 'The one-time code is not right.',
}

export function addLoginPages({ app, config, visitors, sessions, instance, send }: PageTools): void {
  const attempts = { ...pageOptions, config: { limits: ['client', 'login'] } } as const

  function show(
    request: FastifyRequest,
    reply: FastifyReply,
    form: { username?: string | undefined; next: string; problem?: string; status?: number },
  ): FastifyReply {
    const { status = 200, ...fields } = form
    const body = loginBody({
      ...fields,
      canReset: isMailEnabled(config()),
      canSignUp: config().signup.enabled,
      token: visitors.formToken(request, reply),
    })
    return send(request, reply, { status, title: 'Log in', body, isPrivate: true })
  }

  app.get('/login', pageOptions, async (request, reply) => {
    const next = localPath(queryOf(request)('next'))
    const visit = await visitors.of(request)
    if (!visit) return show(request, reply, { next })
    const body = signedInBody(visit.user.username, next)
    return send(request, reply, { title: 'Log in', body, isPrivate: true })
  })

  app.post('/login', attempts, async (request, reply) => {
    const field = formOf(request)
    visitors.refuseForged(request, field('token'))
    const next = localPath(field('next'))
    const username = field('username')
    const { client_id: clientId, client_secret: clientSecret } = await instance.localClient()
    try {
      const { access_token, expires_in } = await sessions.login({
        client: { clientId, clientSecret },
        username: username ?? '',
        password: field('password') ?? '',
        code: field('code')?.trim(),
      })
      // A new login ends the previous session.
      const before = await visitors.of(request)
      if (before) await sessions.end(before.id)
      visitors.signIn(reply, access_token, expires_in)
      return reply.header('cache-control', 'no-store').redirect(next, 303)
    } catch (error) {
      if (!(error instanceof DomainError) || (error.kind !== 'invalid' && error.kind !== 'unauthenticated')) throw error
      const problem = PROBLEMS[error.code ?? ''] ?? error.message
      return show(request, reply, { username, next, problem, status: 400 })
    }
  })

  app.get('/logout', pageOptions, async (request, reply) => {
    const visit = await visitors.of(request)
    if (!visit) {
      visitors.signOut(reply)
      return reply.redirect('/', 303)
    }
    const body = logoutBody(visit.user.username, visitors.formToken(request, reply))
    return send(request, reply, { title: 'Log out', body, isPrivate: true })
  })

  app.post('/logout', pageOptions, async (request, reply) => {
    visitors.refuseForged(request, formOf(request)('token'))
    const visit = await visitors.of(request)
    if (visit) await sessions.end(visit.id)
    visitors.signOut(reply)
    return reply.redirect('/', 303)
  })
}
