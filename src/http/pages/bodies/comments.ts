// Comments of a video: a page of threads, or one thread with its replies.

import type { CommentRow } from '../../../actors/comment/index.ts'
import type { WatchedVideoRow } from '../../../actors/video/index.ts'
import { type Html, html } from '../../../platform/html.ts'
import { type Localized, t } from '../../../platform/language.ts'
import { makeTimeSlices } from '../../../platform/time-slices.ts'
import type { Here } from '../../videos/actor.view.ts'
import { accountPath, handleOf, watchPath } from '../addresses.ts'
import { avatarOf } from './picture.ts'
import { fittedText } from './rich-text.ts'
import { counted, day } from './text.ts'
import { chaptersOf, chaptersOfBar } from './watch.ts'

export const THREADS_PER_PAGE = 20
/** Of one thread. */
export const COMMENTS_PER_PAGE = 100
/** Maximum bytes of HTML for the comments and chapters of a page: long ones reduce the number of comments. */
const PAGE_BYTES = 50_000
/** The same for each comment, in a list and in its own thread. */
const COMMENT_BYTES = { inList: 8000, inThread: 32_000 }

interface Commented {
  video: Pick<WatchedVideoRow, 'uuid' | 'owner_account_id' | 'chapters'>
  here: Here
  /** The thread that is shown alone. */
  threadId?: number
}

export async function threadsOf(
  { total, notDeleted, rows, start }: { total: number; notDeleted: number; rows: CommentRow[]; start: number },
  { video, here }: Commented,
): Promise<Html> {
  const items = await fitting(rows, { video, here })
  const end = start + items.length
  return sectionOf(counted.comments(notDeleted), items, {
    base: `${watchPath(video)}?`,
    previous: start > 0 ? { start: Math.max(0, start - THREADS_PER_PAGE), text: t('Newer') } : undefined,
    next: end < total ? { start: end, text: t('Older') } : undefined,
  })
}

/** The rows of one thread, oldest first, and the first one of the next page if there is one. */
export async function threadOf({ rows, start }: { rows: CommentRow[]; start: number }, commented: Required<Commented>): Promise<Html> {
  const path = watchPath(commented.video)
  const items = await fitting(rows.slice(0, COMMENTS_PER_PAGE), commented)
  return sectionOf(t('One conversation'), items, {
    above: html`<p><a href="${path}#comments">${t('All comments')}</a></p>
`,
    base: `${path}?threadId=${commented.threadId}&`,
    previous: start > 0 ? { start: Math.max(0, start - COMMENTS_PER_PAGE), text: t('Earlier') } : undefined,
    next: rows.length > items.length ? { start: start + items.length, text: t('Later') } : undefined,
  })
}

type Way = { start: number; text: Localized } | undefined

/** `base` ends where another parameter can begin. */
function sectionOf(
  heading: Localized,
  items: readonly Html[],
  { above, base, previous, next }: { above?: Html; base: string; previous: Way; next: Way },
): Html {
  const way = (rel: 'prev' | 'next', { start, text }: NonNullable<Way>) =>
    html`<a class="button" rel="${rel}" href="${base}commentsStart=${start}#comments">${text}</a>`
  return html`<section aria-labelledby="comments"><h2 id="comments">${heading}</h2>
${above}<ol class="comments">${items}</ol>
${(previous || next) && html`<nav class="pager" aria-label="${t('Comments')}">${previous && way('prev', previous)}${next && way('next', next)}</nav>`}</section>`
}

/** The first rows that fit on a page, at least one. */
async function fitting(rows: readonly CommentRow[], commented: Commented): Promise<Html[]> {
  const { threadId, video } = commented
  const pause = makeTimeSlices()
  const items: Html[] = []
  let bytes = Buffer.byteLength(html`${chaptersOf(video)}${chaptersOfBar(video)}`.text)
  for (const row of rows) {
    await pause()
    const isReply = threadId !== undefined && row.id !== threadId
    const item = html`<li id="comment-${row.id}"${isReply && html` class="reply"`}>${commentOf(row, commented)}</li>
`
    bytes += Buffer.byteLength(item.text)
    if (items.length > 0 && bytes > PAGE_BYTES) break
    items.push(item)
  }
  return items
}

export const noComments = (): Html =>
  html`<section aria-labelledby="comments"><h2 id="comments">${t('Comments')}</h2><p class="soft">${t('Comments are switched off.')}</p></section>`

function commentOf(row: CommentRow, { video, here, threadId }: Commented): Html {
  const { account, created_at } = row
  const path = watchPath(video)
  const isInList = threadId === undefined
  const after =
    isInList && row.replies > 0 && html`<p><a href="${path}?threadId=${row.id}#comments">${counted.replies(row.replies)}</a></p>`
  if (!account) return html`<p class="soft">${t('This comment was deleted.')}</p>${after}`
  const { text, isWhole } = fittedText(row.text, here, { longest: isInList ? COMMENT_BYTES.inList : COMMENT_BYTES.inThread, watch: path })
  return html`<article>${avatarOf(account, 36)}<div><p class="head"><a href="${accountPath(account)}"><bdi>${account.name}</bdi></a>${
    account.host !== null && html`<bdi class="soft">@${handleOf(account)}</bdi>`
  }${
    account.id === video.owner_account_id && html`<span class="mark">${t('Author')}</span>`
  }${row.held && html`<span class="mark">${t('Waits for approval')}</span>`}<span class="soft">${day(new Date(created_at))}</span></p>${text}${
    !isWhole && isInList && html`<p><a href="${path}?threadId=${row.thread_id ?? row.id}#comment-${row.id}">${t('Read all of it')}</a></p>`
  }<p><a class="soft" href="${path}/comments/${row.thread_id ?? row.id}/${row.id}" rel="nofollow">${t('Reply or report')}</a></p>${after}</div></article>`
}
