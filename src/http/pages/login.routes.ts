// Login and logout without a script. The session is one of the API's, with its limits and two-factor login; its token is stored in a cookie
// that only the pages read.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { kinds } from '../../actors/external-login/index.ts'
import { DomainError } from '../../actors/runtime/index.ts'
import type { ClientCredentials, Tokens } from '../../actors/session/index.ts'
import { DEFAULT_NAME, isMailEnabled } from '../../config/index.ts'
import { type Html, html, rich } from '../../platform/html.ts'
import { type Localized, recognized, t } from '../../platform/language.ts'
import { makeLoginCookie } from '../external-logins/cookie.ts'
import { localPath } from '../plugins/local-path.ts'
import { linkTo } from './bodies/text.ts'
import { formOf, queryOf } from './fields.ts'
import { makeApi, valueAt } from './screens/api.ts'
import { type PageTools, pageOptions } from './send.ts'

/** Messages for the codes of a refused login; other refusals have their own. */
const PROBLEMS: Readonly<Record<string, Localized>> = {
  invalid_grant: t('The user name or the password is not right.'),
  missing_two_factor: t('Type the one-time code of your authenticator app too.'),
  invalid_two_factor: t('The one-time code is not right.'),
}

const NOT_ENTERED = t('This login did not work. Try it again, or ask the administrator of this site.')
/** Clients name a version; the route takes any. */
const VERSION_IN_PATH = '1'

export function addLoginPages(tools: PageTools): void {
  const { app, config, visitors, sessions, instance, send } = tools
  const api = makeApi(tools)
  const loginCookie = makeLoginCookie(tools.urls)
  const attempts = { ...pageOptions, config: { limits: ['client', 'login'] } } as const

  /** True for an administrator of a server that nobody has named, unless the setup was skipped. */
  async function needsSetup(request: FastifyRequest, accessToken: string): Promise<boolean> {
    if (config().instance.name !== DEFAULT_NAME) return false
    const me = await api.call(request, { operation: 'GET /api/v1/users/me', accessToken })
    return me.ok && valueAt(me.body, 'role.id') === 0 && valueAt(me.body, 'noInstanceConfigWarningModal') === false
  }

  function show(
    request: FastifyRequest,
    reply: FastifyReply,
    form: { username?: string | undefined; next: string; problem?: Localized; status?: number },
  ): FastifyReply {
    const { status = 200, username = '', next, problem } = form
    const { local_passwords, ldap, openid_connect: providers } = config().vireo.auth
    const hasPasswords = local_passwords || ldap.length > 0
    const alert = problem && html`<p class="problem" id="login-problem" role="alert">${problem}</p>`
    const hidden = html`<input type="hidden" name="token" value="${visitors.formToken(request, reply)}"><input type="hidden" name="next" value="${next}">`
    const button = ({ name, label }: { name: string; label: string }) =>
      html`<a class="button" href="/plugins/${kinds['openid-connect'].name}/${VERSION_IN_PATH}/auth/${name}?next=${encodeURIComponent(next)}">${label}</a> `
    const body = html`<h1>${t('Log in')}</h1>
${hasPasswords ? html`<form method="post" action="/login" class="fields">${alert}${hidden}${passwordFields(username, problem)}</form>` : alert}
${providers.length > 0 && html`<p>${providers.map(button)}</p>`}
${hasPasswords && local_passwords && isMailEnabled(config()) && html`<p><a href="/login/ask-reset-password">${t('Forgot your password?')}</a></p>`}
${config().signup.enabled && html`<p>${rich('No account yet? <a>Sign up</a>', linkTo('/signup'))}</p>`}`
    return send(request, reply, { status, title: t('Log in'), body, isPrivate: true })
  }

  const passwordFields = (username: string, problem: Localized | undefined): Html =>
    html`<label for="username">${t('User name or e-mail address')}</label>
<input id="username" name="username" required maxlength="400" autocomplete="username" autocapitalize="none" spellcheck="false" value="${username}"${problem && html` aria-describedby="login-problem"`}>
<label for="password">${t('Password')}</label>
<input id="password" name="password" type="password" required maxlength="1000" autocomplete="current-password">
<label for="code">${t('One-time code')} <span class="soft">${t('(with two-factor login only)')}</span></label>
<input id="code" name="code" inputmode="numeric" maxlength="20" autocomplete="one-time-code">
<button class="main">${t('Log in')}</button>`

  async function signIn(request: FastifyRequest, reply: FastifyReply, tokens: Tokens, next: string): Promise<FastifyReply> {
    // A new login ends the previous session.
    const before = await visitors.of(request)
    if (before) await sessions.end(before.id)
    await visitors.signIn(reply, tokens.access_token, tokens.expires_in)
    const isFirst = next === '/' && (await needsSetup(request, tokens.access_token))
    return reply.header('cache-control', 'no-store').redirect(isFirst ? '/admin/setup' : next, 303)
  }

  /** After a login with another system. Only the browser that began it may go on: a link of somebody else would log in as them. */
  async function enter(
    request: FastifyRequest,
    reply: FastifyReply,
    { next, ...login }: { externalAuthToken: string; username: string; next: string },
  ): Promise<FastifyReply> {
    const isOwn = loginCookie.read(request) === login.externalAuthToken
    loginCookie.clear(reply)
    if (!isOwn) return show(request, reply, { next, problem: NOT_ENTERED, status: 403 })
    const problems = { invalid_grant: NOT_ENTERED }
    return await tryLogin(request, reply, { next, problems }, (client) => sessions.loginByToken({ client, ...login }))
  }

  /** Logs in, or shows the form again with the problem: that of its code in `problems`, or its message. */
  async function tryLogin(
    request: FastifyRequest,
    reply: FastifyReply,
    { problems, ...form }: { username?: string | undefined; next: string; problems: Readonly<Record<string, Localized>> },
    login: (client: ClientCredentials) => Promise<Tokens>,
  ): Promise<FastifyReply> {
    try {
      const { client_id: clientId, client_secret: clientSecret } = await instance.localClient()
      return await signIn(request, reply, await login({ clientId, clientSecret }), form.next)
    } catch (error) {
      if (!(error instanceof DomainError) || (error.kind !== 'invalid' && error.kind !== 'unauthenticated')) throw error
      return show(request, reply, { ...form, problem: problems[error.code ?? ''] ?? recognized(error.message), status: 400 })
    }
  }

  app.get('/login', pageOptions, async (request, reply) => {
    const next = localPath(queryOf(request)('next'))
    const query = queryOf(request)
    const externalAuthToken = query('externalAuthToken')
    if (externalAuthToken !== undefined) return await enter(request, reply, { externalAuthToken, username: query('username') ?? '', next })
    if (query('externalAuthError') !== undefined) return show(request, reply, { next, problem: NOT_ENTERED, status: 403 })
    const visit = await visitors.of(request)
    if (!visit) return show(request, reply, { next })
    const body = html`<h1>${t('You are logged in')}</h1>
<p>${rich('You are {name}. <next>Go on</next>, or <out>log out</out>.', {
      name: html`<strong>${visit.user.username}</strong>`,
      next: linkTo(next).a,
      out: linkTo('/logout').a,
    })}</p>`
    return send(request, reply, { title: t('Log in'), body, isPrivate: true })
  })

  app.post('/login', attempts, async (request, reply) => {
    const field = formOf(request)
    visitors.refuseForged(request, field('token'))
    const next = localPath(field('next'))
    const username = field('username')
    const typed = { username: username ?? '', password: field('password') ?? '', code: field('code')?.trim() }
    return await tryLogin(request, reply, { username, next, problems: PROBLEMS }, (client) => sessions.login({ client, ...typed }))
  })

  app.get('/logout', pageOptions, async (request, reply) => {
    const visit = await visitors.of(request)
    if (!visit) {
      visitors.signOut(reply)
      return reply.redirect('/', 303)
    }
    const body = html`<h1>${t('Log out')}</h1>
<form method="post" action="/logout" class="fields">
<p>${rich('You are logged in as {name}.', { name: html`<strong>${visit.user.username}</strong>` })}</p>
<input type="hidden" name="token" value="${visitors.formToken(request, reply)}"><button class="main">${t('Log out')}</button>
</form>`
    return send(request, reply, { title: t('Log out'), body, isPrivate: true })
  })

  app.post('/logout', pageOptions, async (request, reply) => {
    visitors.refuseForged(request, formOf(request)('token'))
    const visit = await visitors.of(request)
    const elsewhere = visit ? await sessions.logout(visit) : undefined
    visitors.signOut(reply)
    if (elsewhere === undefined) return reply.redirect('/', 303)
    // No redirect: browsers apply `form-action` of the page with the form to it, and the other system may lead to further addresses.
    reply.header('refresh', `0; url=${elsewhere}`)
    const body = html`<h1>${t('You are logged out')}</h1>
<p>${rich('You are still logged in to the other system that you came with. <a>Log out there too</a>', {
      a: (inside) => html`<a href="${elsewhere}" rel="noreferrer">${inside}</a>`,
    })}</p>`
    return send(request, reply, { title: t('Log out'), body, isPrivate: true })
  })
}
