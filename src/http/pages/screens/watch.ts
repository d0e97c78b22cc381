// Taking part below a video: the forms of its page, and what they answer if something is wrong.

import { type Html, html } from '../../../platform/html.ts'
import { type Localized, t } from '../../../platform/language.ts'
import { richText } from '../bodies/rich-text.ts'
import { textAt, valueAt } from './api.ts'
import { hiddenFields, previewButton } from './fields.ts'
import { type FormPart, form, type Screen, type Shown, screen } from './parts.ts'
import { choicesFrom, handle, reportReasons } from './words.ts'

/** Characters of a comment. */
const LONGEST = 10_000
const toVideo = (_answer: unknown, { values }: Shown): string => `/w/${String(values.id)}`
const backToVideo = ({ values }: Shown) => ({ path: `/w/${String(values.id)}`, text: t('Back to the video') })

const belowVideo = (reads: Screen['reads']): Pick<Screen, 'back' | 'reads'> => ({
  back: backToVideo,
  reads: { video: 'GET /api/v1/videos/:id', ...reads },
})

const commentPreview: FormPart['preview'] = (text, { tools }) => richText(text('text').slice(0, LONGEST), tools.urls)

const report = (fixed: FormPart['fixed']): FormPart => ({
  form: 'report',
  title: t('Report'),
  text: t('The moderators of this server read it.'),
  operation: 'POST /api/v1/abuses',
  fields: {
    predefinedReasons: { label: t('What is wrong'), as: 'many', choices: reportReasons, help: t('One or more, or none.') },
    reason: { label: t('Explanation'), as: 'long' },
  },
  ...(fixed ? { fixed } : {}),
  button: t('Report'),
  said: t('Thank you. The moderators will look at it.'),
})

export const watchScreens: readonly Screen[] = [
  screen('/w/:id/take-part', t('Take part'), belowVideo({ playlists: 'GET /api/v1/accounts/:name/video-playlists?count=100' }), [
    ({ data: { video } }) => html`<p><strong><bdi>${textAt(video, 'name')}</bdi></strong></p>`,
    form('rate', 'PUT /api/v1/videos/:id/rate', {
      fields: { rating: { label: t('Your rating'), choices: { like: t('Like'), dislike: t('Dislike'), none: t('None') } } },
      button: t('Rate'),
      leadsTo: toVideo,
    }),
    form('comment', 'POST /api/v1/videos/:id/comment-threads', {
      title: t('Comment'),
      when: ({ data }) => valueAt(data.video, 'commentsPolicy.id') !== 2,
      fields: { text: { label: t('Your comment'), help: t('Markdown works.') } },
      button: t('Send'),
      preview: commentPreview,
      leadsTo: toVideo,
    }),
    form('save', 'POST /api/v1/video-playlists/:playlistId/videos', {
      title: t('Save to a playlist'),
      inPath: ['playlistId'],
      fields: ({ data }) => ({
        playlistId: { label: t('Playlist'), choices: choicesFrom(valueAt(data.playlists, 'data'), 'id', 'displayName') },
      }),
      fixed: ({ data }) => ({ videoId: valueAt(data.video, 'id') }),
      said: t('It is in the playlist.'),
    }),
    report(({ data }) => ({ video: { id: valueAt(data.video, 'id') } })),
  ]),
  screen(
    '/w/:id/comments/:threadId/:commentId',
    t('A comment'),
    belowVideo({ thread: 'GET /api/v1/videos/:id/comment-threads/:threadId' }),
    [
      (shown) => {
        const comment = commentOf(shown)
        const text = richText(textAt(comment, 'text'), shown.tools.urls, { watch: backToVideo(shown).path })
        return html`<blockquote><p>${textAt(comment, 'account.displayName')}</p>${text}</blockquote>`
      },
      form('reply', 'POST /api/v1/videos/:id/comments/:commentId', {
        title: t('Reply'),
        fields: { text: { label: t('Your reply'), help: t('Markdown works.') } },
        button: t('Reply'),
        preview: commentPreview,
        leadsTo: (_answer, { values }) => `/w/${String(values.id)}?threadId=${String(values.threadId)}#comments`,
      }),
      form('approve', 'POST /api/v1/videos/:id/comments/:commentId/approve', {
        when: (shown) => valueAt(commentOf(shown), 'heldForReview') === true && mayRemove(shown),
        button: t('Approve'),
        leadsTo: toVideo,
      }),
      report(({ values }) => ({ comment: { id: Number(values.commentId) } })),
      form('delete', 'DELETE /api/v1/videos/:id/comments/:commentId', {
        title: t('Delete'),
        when: mayRemove,
        button: t('Delete the comment'),
        danger: true,
        leadsTo: toVideo,
      }),
    ],
  ),
  screen('/a/:accountName/take-part', t('Report or block'), { reads: { account: 'GET /api/v1/accounts/:accountName' } }, [
    ({ data: { account } }) => html`<p><strong>${handle()(account)}</strong></p>`,
    report(({ data }) => ({ account: { id: valueAt(data.account, 'id') } })),
    form('block', 'POST /api/v1/users/me/blocklist/accounts', {
      text: t('Then you see none of its videos and comments, and get no notifications about it.'),
      fixed: ({ values }) => ({ accountName: values.accountName }),
      button: t('Block the account'),
      leadsTo: () => '/my-account/blocklist',
    }),
  ]),
]

function commentOf({ data, values }: Shown): unknown {
  const all = (tree: unknown): unknown[] => [valueAt(tree, 'comment'), ...[valueAt(tree, 'children') ?? []].flat().flatMap(all)]
  return all(data.thread).find((comment) => textAt(comment, 'id') === values.commentId)
}

/** Its author, the owner of the video, and the staff; the API has the last word. */
function mayRemove(shown: Shown): boolean {
  const { accountId, role } = shown.visit?.user ?? { role: 2 }
  return role !== 2 || valueAt(commentOf(shown), 'account.id') === accountId || valueAt(shown.data.video, 'account.id') === accountId
}

export interface OwnPart {
  id: string
  rating: unknown
  token: string
  subscribe: Html
  hasComments: boolean
}

/** What users do on the page of a video; visitors are led to the login. */
export function ownActions({ id, rating, token }: OwnPart): Html {
  const rate = (name: 'like' | 'dislike', label: Localized) =>
    html`<form method="post" action="/w/${id}/take-part" data-swap>${hiddenFields({ token }, 'rate')}<input type="hidden" name="rating" value="${
      rating === name ? 'none' : name
    }"><button aria-pressed="${rating === name ? 'true' : 'false'}">${label}</button></form>`
  return html`<div id="actions" class="acts">${rate('like', t('Like'))}${rate('dislike', t('Dislike'))}<a class="button" href="/w/${id}/take-part#save">${t('Save')}</a><a class="button" href="/w/${id}/take-part#report">${t('Report')}</a></div>`
}

export const visitorActions = (id: string): Html =>
  html`<div id="actions" class="acts"><a class="button" href="/w/${id}/take-part" rel="nofollow">${t('Like, comment, save or report')}</a></div>`

export const commentForm = ({ id, token, hasComments }: OwnPart): Html | null =>
  hasComments
    ? html`<form method="post" action="/w/${id}/take-part" class="fields" data-swap>${hiddenFields({ token }, 'comment')}<label for="comment-text">${t('Your comment')}</label>
<textarea id="comment-text" name="text" rows="3" maxlength="${LONGEST}" required></textarea><button class="main">${t('Send')}</button>${previewButton}</form>`
    : null
