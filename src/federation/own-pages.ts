// Maps pages of this server to objects: other software names local videos, playlists and actors by the addresses that people copy.

import type { Database } from '../platform/database/index.ts'
import { readPasted } from './fetch/lookup.ts'
import type { Urls } from './urls.ts'

/**
 * The ActivityPub id of the object that a local page shows; any other address is returned unchanged. With `comments`, the page of a
 * conversation stands for the comment and not for the video.
 */
export type ObjectAt = (url: string, options?: { comments?: boolean }) => Promise<string>

/** Addresses that are also pages, and may show remote objects. */
const SHARED_KINDS: ReadonlySet<string> = new Set(['account', 'channel', 'video', 'playlist'])

const CONVERSATION = /[;?&]threadId=(\d{1,9})(?!\d)/
const COMMENT = /#comment-(\d{1,9})$/

export function makeObjectAt({ db, urls }: { db: Pick<Database, 'query'>; urls: Urls }): ObjectAt {
  return async (url, { comments = false } = {}) => {
    if (!urls.isLocal(url)) return url
    const { origin, pathname } = new URL(url)
    const address = `${origin}${pathname.replace(/\/{2,}/g, '/').replace(/\/$/, '')}`
    const target = urls.parse(address)
    if (target && (target.activity !== null || !SHARED_KINDS.has(target.kind))) return address
    const page = readPasted(address, urls.origin)
    if (page === undefined || page.kind === 'url') return url
    if (page.kind === 'handle') return (await actorCalled(page)) ?? url
    const commentId = (COMMENT.exec(url) ?? CONVERSATION.exec(url))?.[1]
    const comment = comments && commentId !== undefined ? await commentBelow(page.uuid, commentId) : undefined
    return comment ?? (await addressOf(page.kind, page.uuid)) ?? url
  }

  async function actorCalled({ name, host }: { name: string; host: string }): Promise<string | undefined> {
    const [actor] = await db.query<{ url: string }>(
      `select x.url from actor x left join remote_host h on h.id = x.host_id
       where lower(x.preferred_username) = lower($1) and x.deleted_at is null and h.host is not distinct from $2`,
      [name, host === urls.host ? null : host],
    )
    return actor?.url
  }

  async function commentBelow(uuid: string, commentId: string): Promise<string | undefined> {
    const [comment] = await db.query<{ url: string }>(
      'select m.url from comment m join video v on v.id = m.video_id where m.id = $1 and v.uuid = $2',
      [Number(commentId), uuid],
    )
    return comment?.url
  }

  async function addressOf(kind: 'video' | 'playlist', uuid: string): Promise<string | undefined> {
    const [found] = await db.query<{ url: string }>(`select url from ${kind} where uuid = $1`, [uuid])
    return found?.url
  }
}
