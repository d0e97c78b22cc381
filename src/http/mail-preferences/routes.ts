// The unsubscribe link of mails: a page with a button, and the one click of mail programs (RFC 8058). The link needs no login; opening it
// changes nothing, since mail scanners open links too.

import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import { aboutOf, UNSUBSCRIBE_PATH, type Unsubscribe, type UnsubscribeLink } from '../../actors/mail/index.ts'
import { DomainError } from '../../actors/runtime/index.ts'
import type { Config } from '../../config/index.ts'
import { type Html, html } from '../../platform/html.ts'
import { LARGEST_ID } from '../../platform/ids.ts'
import { stylePath } from '../pages/assets.ts'
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

    function send(reply: FastifyReply, page: { status?: number; title: string; body: Html }) {
      const { status = 200, title, body } = page
      const head = html`<meta name="robots" content="noindex">`
      return reply
        .code(status)
        .headers({
          'content-type': 'text/html; charset=utf-8',
          'cache-control': 'no-store',
          'content-security-policy': contentSecurityPolicy({ origins: [], framed: false, forms: true }),
          // The address is a secret.
          'referrer-policy': 'no-referrer',
        })
        .send(layout({ title, body, head }, { name: config().instance.name }, { style }))
    }

    /** Sends the page of a link, or that it is no longer valid. */
    async function answer(reply: FastifyReply, params: unknown, page: (link: UnsubscribeLink) => Promise<Html>) {
      const { data } = link.safeParse(params)
      try {
        if (data) return send(reply, { title: 'Mails', body: await page(data) })
      } catch (error) {
        if (!(error instanceof DomainError) || error.kind !== 'not_found') throw error
      }
      return send(reply, { status: 404, title: 'Mails', body: uselessBody() })
    }

    const options = {
      schema: { params: z.object({ userId: z.string(), setting: z.string(), signature: z.string() }), hide: true },
      config: { limits: ['client'] },
    } as const
    const path = `${UNSUBSCRIBE_PATH}/:userId/:setting/:signature`

    app.get(path, options, async ({ params }, reply) =>
      answer(reply, params, async (asked) => {
        const { setting, isOn } = await unsubscribe.look(asked)
        return isOn ? askBody(aboutOf[setting]) : endedBody(aboutOf[setting])
      }),
    )

    // Mail programs send `List-Unsubscribe=One-Click`, in one of two encodings; it carries no information.
    app.post(path, options, async ({ params }, reply) =>
      answer(reply, params, async (asked) => endedBody(aboutOf[(await unsubscribe.end(asked)).setting])),
    )
  }
}

const askBody = (about: string): Html => html`<h1>No more mails?</h1>
<p>You get mails about ${about}.</p>
<form method="post"><input type="hidden" name="List-Unsubscribe" value="One-Click"><button>Send me no more of these mails</button></form>
<p>Notifications on this site, and by other mails, stay as they are: <a href="${SETTINGS_PATH}">all settings</a>.</p>`

const endedBody = (about: string): Html => html`<h1>No more mails</h1>
<p>You get no mails about ${about}.</p>
<p><a href="${SETTINGS_PATH}">Change your notifications</a></p>`

const uselessBody = (): Html => html`<h1>This link is of no use any more</h1>
<p>It was made for another address, or it is not whole. <a href="${SETTINGS_PATH}">Change your notifications</a></p>`
