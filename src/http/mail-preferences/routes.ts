// The unsubscribe link of mails: a page with a button, and the one click of mail programs (RFC 8058). The link needs no login; opening it
// changes nothing, since mail scanners open links too.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { aboutOf, UNSUBSCRIBE_PATH, type Unsubscribe, type UnsubscribeLink } from '../../actors/mail/index.ts'
import { DomainError } from '../../actors/runtime/index.ts'
import type { Config } from '../../config/index.ts'
import { type Html, html, rich } from '../../platform/html.ts'
import { LARGEST_ID } from '../../platform/ids.ts'
import { known, type Localized, t } from '../../platform/language.ts'
import { stylePath } from '../pages/assets.ts'
import { capital } from '../pages/bodies/text.ts'
import { chooseLanguage } from '../pages/languages.ts'
import { contentSecurityPolicy, layout } from '../pages/layout.ts'
import type { Area } from '../plugins/types.ts'

const SETTINGS_PATH = '/my-account/settings#notifications'

/** An invalid link gets the same response as an expired one. */
const link = z.object({
  userId: z.coerce.number().int().min(1).max(LARGEST_ID),
  setting: z.string(),
  signature: z.string(),
})

export function mailPreferencesArea(deps: { config: () => Config; unsubscribe: Unsubscribe }): Area {
  const { config, unsubscribe } = deps
  return (app) => {
    const style = stylePath()

    function send(request: FastifyRequest, reply: FastifyReply, page: { status?: number; body: Html }) {
      const { status = 200, body } = page
      const language = chooseLanguage({ accepted: request.headers['accept-language'] })
      const head = html`<meta name="robots" content="noindex">`
      return reply
        .code(status)
        .headers({
          'content-type': 'text/html; charset=utf-8',
          'cache-control': 'no-store',
          'content-language': language.tag,
          'content-security-policy': contentSecurityPolicy({ origins: [], framed: false, forms: true }),
          // The address is a secret.
          'referrer-policy': 'no-referrer',
        })
        .send(layout({ title: t('Mails'), body, head }, { name: config().instance.name }, { style }, language))
    }

    /** Sends the page of a link, or that it is no longer valid. */
    async function answer(request: FastifyRequest, reply: FastifyReply, page: (link: UnsubscribeLink) => Promise<Html>) {
      const { data } = link.safeParse(request.params)
      try {
        if (data) return send(request, reply, { body: await page(data) })
      } catch (error) {
        if (!(error instanceof DomainError) || error.kind !== 'not_found') throw error
      }
      return send(request, reply, { status: 404, body: uselessBody() })
    }

    const options = {
      schema: { params: z.object({ userId: z.string(), setting: z.string(), signature: z.string() }), hide: true },
      config: { limits: ['client'] },
    } as const
    const path = `${UNSUBSCRIBE_PATH}/:userId/:setting/:signature`

    app.get(path, options, async (request, reply) =>
      answer(request, reply, async (asked) => {
        const { setting, isOn } = await unsubscribe.look(asked)
        return isOn ? askBody(aboutOf[setting]) : endedBody(aboutOf[setting])
      }),
    )

    // Mail programs send `List-Unsubscribe=One-Click`, in one of two encodings; it carries no information.
    app.post(path, options, async (request, reply) =>
      answer(request, reply, async (asked) => endedBody(aboutOf[(await unsubscribe.end(asked)).setting])),
    )
  }
}

const named = (about: string): Localized => known(capital(about))

const askBody = (about: string): Html => html`<h1>${t('No more mails?')}</h1>
<p>${t('You get mails about: {subject}', { subject: named(about) })}</p>
<form method="post"><input type="hidden" name="List-Unsubscribe" value="One-Click"><button>${t('Send me no more of these mails')}</button></form>
<p>${rich('Notifications on this site, and by other mails, stay as they are: <a>all settings</a>.', { a: settingsLink })}</p>`

const endedBody = (about: string): Html => html`<h1>${t('No more mails')}</h1>
<p>${t('You get no mails about: {subject}', { subject: named(about) })}</p>
<p>${settingsLink(html`${t('Change your notifications')}`)}</p>`

const uselessBody = (): Html => html`<h1>${t('This link is of no use any more')}</h1>
<p>${t('It was made for another address, or it is not whole.')} ${settingsLink(html`${t('Change your notifications')}`)}</p>`

const settingsLink = (inside: Html): Html => html`<a href="${SETTINGS_PATH}">${inside}</a>`
