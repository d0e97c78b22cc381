// What others say about a video: a page of threads, or one thread with its replies.

import type { CommentRow } from '../../../actors/comment/index.ts'
import { type Html, html } from '../../../platform/html.ts'
import type { Here } from '../../videos/actor.view.ts'
import { accountPath, avatarPath, handleOf, watchPath } from '../addresses.ts'
import { richText } from './rich-text.ts'
import { counted, day, initialOf } from './text.ts'

export const THREADS_PER_PAGE = 20
/** Of one thread. */
export const COMMENTS_PER_PAGE = 100

interface Commented {
  video: { uuid: string; owner_account_id: number }
  here: Here
}

export function threadsOf(
  { total, notDeleted, rows, start }: { total: number; notDeleted: number; rows: CommentRow[]; start: number },
  { video, here }: Commented,
): Html {
  const path = watchPath(video)
  return html`<section aria-labelledby="comments"><h2 id="comments">${counted(notDeleted, 'comment')}</h2>
<ol class="comments">${rows.map((row) => {
    const replies = row.replies > 0 ? repliesLink(row, path) : null
    return html`<li id="comment-${row.id}">${commentOf(row, { video, here }, replies)}</li>
`
  })}</ol>
${paging(`${path}?`, {
  previous: start > 0 ? { start: Math.max(0, start - THREADS_PER_PAGE), text: 'Newer' } : undefined,
  next: start + rows.length < total ? { start: start + THREADS_PER_PAGE, text: 'Older' } : undefined,
})}</section>`
}

/** The rows of one thread, the oldest first, with the first one of the next page if there is one. */
export function threadOf(
  { rows, threadId, start }: { rows: CommentRow[]; threadId: number; start: number },
  { video, here }: Commented,
): Html {
  const path = watchPath(video)
  return html`<section aria-labelledby="comments"><h2 id="comments">One conversation</h2>
<p><a href="${path}#comments">All comments</a></p>
<ol class="comments">${rows.slice(0, COMMENTS_PER_PAGE).map(
    (row) =>
      html`<li id="comment-${row.id}"${row.id !== threadId && html` class="reply"`}>${commentOf(row, { video, here })}</li>
`,
  )}</ol>
${paging(`${path}?threadId=${threadId}&`, {
  previous: start > 0 ? { start: Math.max(0, start - COMMENTS_PER_PAGE), text: 'Earlier' } : undefined,
  next: rows.length > COMMENTS_PER_PAGE ? { start: start + COMMENTS_PER_PAGE, text: 'Later' } : undefined,
})}</section>`
}

type Way = { start: number; text: string } | undefined

/** `base` ends where another parameter can begin. */
function paging(base: string, { previous, next }: { previous: Way; next: Way }): Html | null {
  if (!previous && !next) return null
  const way = (rel: 'prev' | 'next', { start, text }: NonNullable<Way>) =>
    html`<a class="button" rel="${rel}" href="${base}commentsStart=${start}#comments">${text}</a>`
  return html`<nav class="paging" aria-label="Comments">${previous && way('prev', previous)}${next && way('next', next)}</nav>`
}

export const noComments = (): Html =>
  html`<section aria-labelledby="comments"><h2 id="comments">Comments</h2><p class="soft">Comments are switched off.</p></section>`

const repliesLink = ({ id, replies }: CommentRow, path: string): Html =>
  html`<p><a href="${path}?threadId=${id}#comments">${replies === 1 ? '1 reply' : `${replies.toLocaleString('en')} replies`}</a></p>`

function commentOf(row: CommentRow, { video, here }: Commented, after: Html | null = null): Html {
  const { account, text, created_at } = row
  if (!account) return html`<p class="soft">This comment was deleted.</p>${after}`
  const avatar = avatarPath(account, 48)
  return html`<article>${
    avatar
      ? html`<img class="avatar" src="${avatar}" alt="" loading="lazy" width="36" height="36">`
      : html`<span class="avatar" aria-hidden="true">${initialOf(account.name)}</span>`
  }<div><p class="head"><a href="${accountPath(account)}"><bdi>${account.name}</bdi></a>${
    account.host !== null && html`<bdi class="soft">@${handleOf(account)}</bdi>`
  }${
    account.id === video.owner_account_id && html`<span class="mark">Author</span>`
  }${row.held && html`<span class="mark">Waits for approval</span>`}<span class="soft">${day(new Date(created_at))}</span></p>${richText(
    text,
    here,
  )}${after}</div></article>`
}
