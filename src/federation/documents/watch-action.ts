// The document of a local viewer's watch action.

import type { Video } from '../../actors/video/index.ts'
import type { Watch } from '../../actors/view/index.ts'
import type { Columns, Sql } from '../../platform/database/index.ts'
import type { Urls } from '../urls.ts'
import { buildCreate, buildWatchAction, type JsonObject } from '../wire/index.ts'

export interface FoundWatch {
  document: JsonObject
  url: string
  videoId: number
  /** Privacy of the video. */
  privacy: number
  blocked: boolean
  owner: { id: number; url: string }
}

interface WatchRow
  extends Columns<typeof Watch, 'url' | 'uuid' | 'videoId' | 'startedAt' | 'endedAt' | 'seconds' | 'country' | 'subdivision' | 'sections'>,
    Columns<Video, 'privacy' | 'blocked'> {
  video_url: string
  owner_id: number
  owner_url: string
}

/** By a local viewer, addressed to the owner of the video. One statement. */
export async function watchActionDocument(query: Sql, key: { id: number } | { uuid: string }): Promise<FoundWatch | null> {
  const [row] = await query<WatchRow>(
    `select w.url, w.uuid, w.video_id, v.url as video_url, v.privacy, v.blocked, w.started_at, w.ended_at, w.seconds, w.sections,
       w.country, w.subdivision, x.id as owner_id, x.url as owner_url
     from watch w join video v on v.id = w.video_id join channel c on c.id = v.channel_id
       join account a on a.id = c.account_id join actor x on x.id = a.actor_id
     where ${'id' in key ? 'w.id = $1' : 'w.uuid = $1'} and w.host_id is null and v.state <> 'removed'`,
    ['id' in key ? key.id : key.uuid],
  )
  if (!row) return null
  const { url, video_id, privacy, blocked, owner_id, owner_url } = row
  return {
    document: documentOf(row),
    url,
    videoId: video_id,
    privacy,
    blocked,
    owner: { id: owner_id, url: owner_url },
  }
}

const documentOf = (row: WatchRow): JsonObject =>
  buildWatchAction({
    id: row.url,
    uuid: row.uuid,
    to: [row.owner_url],
    cc: [],
    target: row.video_url,
    durationSeconds: row.seconds,
    startedAt: row.started_at,
    endedAt: row.ended_at,
    sections: row.sections.map(([startTimestamp, endTimestamp]) => ({ startTimestamp, endTimestamp })),
    country: row.country,
    region: row.subdivision,
  })

/** Its Create, sent by the instance so that the viewer stays anonymous. */
export const createWatchActivity = (urls: Urls, watch: FoundWatch): JsonObject =>
  buildCreate({
    id: urls.createOf(watch.url),
    actor: urls.instance,
    object: watch.document,
    to: [watch.owner.url],
    cc: [],
  })
