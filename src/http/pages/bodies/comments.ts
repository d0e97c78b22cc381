// What others say about a video: a page of threads, or one thread with its replies.

import type { CommentRow } from '../../../actors/comment/index.ts'
import { type Html, html } from '../../../platform/html.ts'
import type { Here } from '../../videos/actor.view.ts'
import { accountPath, avatarPath, handleOf, watchPath } from '../addresses.ts'
import { richText } from './rich-text.ts'
import { counted, day, initialOf } from './text.ts'

export const THREADS_PER_PAGE = 20

interface Commented {
  video: { uuid: string; owner_account_id: number }
  here: Here
}

export function threadsOf(
  { total, notDeleted, rows, start }: { total: number; notDeleted: number; rows: CommentRow[]; start: number },
  { video, here }: Commented,
): Html {
  const path = watchPath(video)
  const page = (from: number, rel: 'prev' | 'next', text: string) =>
    html`<a class="button" rel="${rel}" href="${path}?commentsStart=${from}#comments">${text}</a>`
  return html`<section aria-labelledby="comments"><h2 id="comments">${counted(notDeleted, 'comment')}</h2>
<ol class="comments">${rows.map((row) => {
    const replies = row.replies > 0 ? repliesLink(row, path) : null
    return html`<li id="comment-${row.id}">${commentOf(row, { video, here }, replies)}</li>
`
  })}</ol>
${
  (start > 0 || start + rows.length < total) &&
  html`<nav class="paging" aria-label="Comments">${start > 0 && page(Math.max(0, start - THREADS_PER_PAGE), 'prev', 'Newer')}${
    start + rows.length < total && page(start + THREADS_PER_PAGE, 'next', 'Older')
  }</nav>`
}</section>`
}

/** The rows of one thread, the oldest first. */
export function threadOf(rows: CommentRow[], { video, here }: Commented): Html {
  const [first] = rows
  return html`<section aria-labelledby="comments"><h2 id="comments">One conversation</h2>
<p><a href="${watchPath(video)}#comments">All comments</a></p>
<ol class="comments">${rows.map(
    (row) =>
      html`<li id="comment-${row.id}"${row.id !== first?.id && html` class="reply"`}>${commentOf(row, { video, here })}</li>
`,
  )}</ol></section>`
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
