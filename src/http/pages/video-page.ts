// A page of videos that the viewer may see, in one statement, without a count.

import type { Visit } from '../../actors/session/index.ts'
import { listVideos, type VideoListQuery, type VideoListRow } from '../../actors/video/index.ts'
import type { Config } from '../../config/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { PAGE_COUNT } from './fields.ts'
import { coversOf, sensitivePolicy } from './watched.ts'

export interface VideoPage {
  rows: VideoListRow[]
  /** From 1. */
  page: number
  hasMore: boolean
  /** True if the pictures of sensitive videos are covered. */
  covers: boolean
}

export type Wanted = Pick<VideoListQuery, 'scope'> & Partial<VideoListQuery> & { page: number }

/** `visit`: the viewer, null for visitors. Only public videos are listed. */
export async function videoPage(
  { db, config }: { db: Database; config: () => Config },
  visit: Visit | null,
  { page, ...wanted }: Wanted,
): Promise<VideoPage> {
  const policy = sensitivePolicy(config(), visit)
  const { rows } = await listVideos(db, {
    internal: false,
    start: (page - 1) * PAGE_COUNT,
    count: PAGE_COUNT + 1,
    skipCount: true,
    sort: { by: 'publishedAt', descending: true },
    mutedFor: visit?.user.accountId ?? null,
    ...(policy === 'do_not_list' ? { nsfw: false } : {}),
    ...wanted,
  })
  return { rows: rows.slice(0, PAGE_COUNT), page, hasMore: rows.length > PAGE_COUNT, covers: coversOf(config(), visit) }
}
