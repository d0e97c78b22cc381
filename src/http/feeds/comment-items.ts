// Comments as items of a feed.

import type { FeedCommentRow } from '../../actors/feed/index.ts'
import { webUrl } from '../../platform/html.ts'
import { markdownToHtml } from '../../platform/markdown.ts'
import type { Here } from '../videos/actor.view.ts'
import type { FeedItem } from './document.ts'
import { accountPage, videoPage } from './heads.ts'
import { text } from './xml.ts'

export function toCommentItem(row: FeedCommentRow, here: Here): FeedItem {
  const thread = row.thread_id ?? row.id
  const reply = row.thread_id === null ? '' : `#comment-${row.id}`
  const { account, video } = row
  return {
    title: `${video.name} - ${account.name}`,
    link: `${videoPage(video, here)};threadId=${thread}${reply}`,
    date: row.created_at,
    content: markdownToHtml(row.text, here.origin),
    author: { name: account.name, link: webUrl(account.url) ?? accountPage(account, here) },
    elements: { 'dc:creator': text(account.name) },
  }
}
