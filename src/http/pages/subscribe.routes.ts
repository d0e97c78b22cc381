// Subscribing on pages: with a click for logged-in users; visitors are redirected to their own server; and the page for local users whom
// another server redirects here.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { findAccount } from '../../actors/account/index.ts'
import { findChannel } from '../../actors/channel/index.ts'
import { DomainError } from '../../actors/runtime/index.ts'
import { html, rich } from '../../platform/html.ts'
import { type Localized, t } from '../../platform/language.ts'
import { splitHandle, toActorHandle } from '../plugins/handles.ts'
import { localPath, loginPath } from '../plugins/local-path.ts'
import { seesStrangers } from '../videos/follow-constraints.ts'
import { accountPath, channelPath, handleOf } from './addresses.ts'
import { remoteSubscribe } from './bodies/subscribe.ts'
import { formOf, queryOf } from './fields.ts'
import { makePastedPath } from './pasted.ts'
import { makeApi } from './screens/api.ts'
import { type PageTools, pageOptions } from './send.ts'

export function addSubscribePages(tools: PageTools): void {
  const { app, db, config, urls, visitors, subscribeAddress, subscriptions, send, sendMissing } = tools
  const api = makeApi(tools)
  const pastedPath = makePastedPath(tools)

  app.post('/subscriptions', pageOptions, async (request, reply) => {
    const field = formOf(request)
    visitors.refuseForged(request, field('token'))
    const next = localPath(field('next'))
    const visit = await visitors.of(request)
    if (!visit) return reply.redirect(loginPath(next), 303)
    const uri = field('channel') ?? ''
    if (field('wanted') === 'no') await api.read(request, { operation: 'DELETE /api/v1/users/me/subscriptions/:uri', values: { uri } })
    else await api.read(request, { operation: 'POST /api/v1/users/me/subscriptions', body: { uri } })
    await subscriptions.recount(toActorHandle(uri, urls.host))
    return reply.redirect(next, 303)
  })

  /** Each asks another server, so they are limited like logins. */
  const lookups = { ...pageOptions, config: { limits: ['client', 'login'] } } as const

  app.post('/remote-subscribe', lookups, async (request, reply) => {
    visitors.refuseForeign(request)
    const field = formOf(request)
    const kind = field('kind') === 'account' ? 'account' : 'channel'
    const name = toActorHandle(field('actor') ?? '', urls.host)
    const actor = kind === 'account' ? await findAccount(db, name) : (await findChannel(db, name))?.channel
    if (!actor) return sendMissing(request, reply)
    const typed = (field('handle') ?? '').trim()
    const form = { kind, actor: handleOf(actor), handle: typed } as const
    const handle = splitHandle(typed, config())
    if (handle?.host.toLowerCase() === urls.host) {
      return reply.redirect(loginPath(kind === 'account' ? accountPath(actor) : channelPath(actor)), 303)
    }
    const found = handle
      ? await addressFor(`${handle.name}@${handle.host}`, actor.url)
      : { status: 400, problem: t('Type your name and your server, such as @me@my.server.') }
    const title = t('Subscribe to {name}', { name: actor.name })
    if (typeof found !== 'string') {
      const body = html`<h1>${title}</h1>
${remoteSubscribe({ ...form, problem: found.problem })}`
      return send(request, reply, { status: found.status, title, body, isPrivate: true })
    }
    // A form may lead only to this server; the next page redirects itself.
    const head = html`<meta http-equiv="refresh" content="0; url=${found}">`
    const body = html`<h1>${title}</h1>
<p>${t('Your server takes over from here:')} <a href="${found}" rel="noopener">${t('continue on {host}', { host: URL.parse(found)?.host ?? '' })}</a></p>`
    return send(request, reply, { title, head, body, isPrivate: true })
  })

  async function addressFor(handle: string, uri: string): Promise<string | { status: number; problem: Localized }> {
    try {
      return await subscribeAddress(handle, uri)
    } catch (error) {
      if (!(error instanceof DomainError)) throw error
      if (error.kind === 'not_found') return { status: 422, problem: t('That server does not know this handle.') }
      if (error.kind === 'unprocessable') return { status: 422, problem: t('That server has no page on which you can subscribe.') }
      return { status: 502, problem: t('That server cannot be reached right now. Is the handle right?') }
    }
  }

  app.get('/remote-interaction', pageOptions, async (request, reply) => {
    const uri = (queryOf(request)('uri') ?? '').trim().replace(/^acct:/i, '')
    if (uri === '') return sendInteraction(request, reply, uri)
    const visit = await visitors.of(request)
    if (!visit) return reply.redirect(loginPath(`/remote-interaction?uri=${encodeURIComponent(uri)}`), 303)
    const path = await pastedPath(uri, { fetch: seesStrangers({ config }, true) })
    return path === undefined ? sendInteraction(request, reply, uri) : reply.redirect(path, 303)
  })

  /** For local users who arrive with a remote address that cannot be shown, or without one. */
  function sendInteraction(request: FastifyRequest, reply: FastifyReply, uri: string): FastifyReply {
    const address = html`<code>${uri}</code>`
    const nothing = rich('There is no channel, account, video or playlist at {address}, or its server does not answer.', { address })
    const body = html`<h1>${uri === '' ? t('Open what is on another server') : t('This could not be found')}</h1>
${uri !== '' && html`<p role="alert">${nothing}</p>`}
<form action="/remote-interaction" class="fields"><label for="uri">${t('Address or handle')}</label>
<div class="row"><input id="uri" name="uri" required maxlength="2000" autocapitalize="none" spellcheck="false" placeholder="@name@video.example" value="${uri}"><button class="main">${t('Open')}</button></div></form>`
    return send(request, reply, { status: uri === '' ? 200 : 404, title: t('Open'), body, isPrivate: true })
  }
}
