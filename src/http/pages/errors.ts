// Refusals, errors and missing addresses as pages for people; programs get the problem body of the rest of the server.

import { html } from '../../platform/html.ts'
import { type Localized, recognized, t } from '../../platform/language.ts'
import { notFoundKind } from '../plugins/accept-constraint.ts'
import { answerError } from '../plugins/errors.ts'
import { HttpError } from '../plugins/http-error.ts'
import { missingBody } from './bodies/notices.ts'
import { type PageTools, pageOptions } from './send.ts'

const TITLES: Readonly<Record<number, Localized>> = {
  400: t('This cannot be understood'),
  403: t('This is not allowed'),
  404: t('There is nothing here'),
  429: t('Too many requests'),
  503: t('Not now'),
}

/** Pages of videos, playlists, accounts and channels, which link previewers request with all kinds of Accept headers. */
const OF_SUBJECTS = /^\/(?:@|(?:w|a|c|accounts|video-channels|videos\/(?:watch|embed)|video-playlists\/embed)\/)/

/** For all routes of the pages. Requests that do not accept a page get 406 before any look-up, except at `OF_SUBJECTS`. */
export function addErrorPages({ app, send }: PageTools): void {
  app.addHook('preValidation', async (request) => {
    if ((request.method !== 'GET' && request.method !== 'HEAD') || OF_SUBJECTS.test(request.url)) return
    if (notFoundKind(request) === 'unacceptable') throw new HttpError(406, 'There are only pages here.', { text: '' })
  })
  app.setErrorHandler((error, request, reply) => {
    if (!/text\/html/i.test(request.headers.accept ?? '')) return answerError(error, request, reply)
    return answerError(error, request, reply, ({ status, detail }) => {
      const title = TITLES[status] ?? t('This did not work')
      const body = html`<h1>${title}</h1>
<p role="alert">${recognized(detail)}</p>
<p><a href="/">${t('Latest videos')}</a></p>`
      return send(request, reply, { status, title, body, isPrivate: true })
    })
  })
}

/** Where mails and bookmarks of other web clients lead, by the beginning of their addresses. */
const MOVED: readonly (readonly [from: string, to: string])[] = [
  ...['abuses', 'registrations', 'video-blocks', 'blocklist'].map((name) => [`/admin/moderation/${name}`, `/admin/${name}`] as const),
  ...['follows/followers', 'config', 'plugins'].map((name) => [`/admin/settings/${name}`, `/admin/${name}`] as const),
  ['/admin/settings/follows', '/admin/follows/following'],
  ['/admin/overview/users', '/admin/users'],
  ['/admin', '/admin/overview'],
  ['/my-library/video-imports', '/videos/import'],
  ['/my-library/comments-on-my-videos', '/my-library/comments'],
  ['/my-library', '/my-library/videos'],
  ['/my-account', '/my-account/settings'],
  ['/videos/publish', '/videos/upload'],
]

/** For all other addresses. */
export function addMissingPage({ app, send, site }: PageTools): void {
  app.get('/*', pageOptions, async (request, reply) => {
    if (notFoundKind(request) === 'nothing') return reply.callNotFound()
    const moved = MOVED.find(([from]) => new RegExp(`^${from}(?:[/?;]|$)`).test(request.url))
    if (moved) return reply.redirect(moved[1], 302)
    // Like the reference, whose clients have pages that it does not know of.
    const head = html`<meta name="robots" content="noindex">`
    return send(request, reply, { title: site().name, head, body: missingBody({ embed: false }) })
  })
}
