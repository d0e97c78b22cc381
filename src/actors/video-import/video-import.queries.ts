// Imports as reads give them.

import { type Columns, containing, type Database, type InJson, pageOf } from '../../platform/database/index.ts'
import { type VideoImportState, videoImportStateIds } from '../../state-machines/video-import.ts'
import { listColumns, type VideoListRow, videoJoins } from '../video/index.ts'
import type { VideoImport } from './video-import.entity.ts'

export interface VideoImportRow {
  videoImport: InJson<Columns<VideoImport, 'id' | 'targetUrl' | 'magnetUri' | 'torrentName' | 'createdAt' | 'updatedAt'>> & {
    state: VideoImportState
    error: string | null
    /** The requesting synchronisation, while it exists. */
    channel_sync: { id: number; url: string } | null
  }
  /** Null if it failed, or is removed. */
  video: VideoListRow | null
}

type Flat = { videoImport: VideoImportRow['videoImport'] | null; total: number } & (VideoListRow | { id: null })

const COLUMNS = `jsonb_build_object('id', page.id, 'target_url', page.target_url, 'magnet_uri', page.magnet_uri,
  'torrent_name', page.torrent_name, 'state', page.state, 'error', page.context->'error',
  'created_at', page.created_at, 'updated_at', page.updated_at,
  'channel_sync', (select jsonb_build_object('id', y.id, 'url', y.external_channel_url)
    from channel_sync y where y.id = page.channel_sync_id))`

export interface VideoImportQuery {
  userId: number
  start: number
  count: number
  descending: boolean
  targetUrl?: string | undefined
  channelSyncId?: number | undefined
  /** In the name of the video, and in its source. */
  search?: string | undefined
}

/** A page of the imports of a user, by date. One statement. */
export async function listVideoImports(
  db: Pick<Database, 'query'>,
  query: VideoImportQuery,
): Promise<{ total: number; rows: VideoImportRow[] }> {
  const values: unknown[] = [query.userId]
  const bind = (value: unknown): string => `$${values.push(value)}`
  const conditions = [
    'i.user_id = $1',
    ...(query.targetUrl === undefined ? [] : [`i.target_url = ${bind(query.targetUrl)}`]),
    ...(query.channelSyncId === undefined ? [] : [`i.channel_sync_id = ${bind(query.channelSyncId)}`]),
    ...(query.search === undefined ? [] : [matching(bind(containing(query.search)))]),
  ]
  const order = query.descending ? 'desc' : 'asc'
  const columns = `i.id, i.target_url, i.magnet_uri, i.torrent_name, i.state, i.context, i.created_at, i.updated_at, i.channel_sync_id,
    n.id as video_id`
  const shown = `video_import i left join video n on n.id = i.video_id and n.state <> 'removed'
    where ${conditions.join(' and ')}`
  const rows = await db.query<Flat>(
    `with page as materialized (
       ${pageOf({ columns, rows: shown, order: `i.created_at ${order}, i.id ${order}` }, query, bind)}
     )
     select (select count(*)::int from ${shown}) as total, ${listColumns},
       case when page.id is not null then ${COLUMNS} end as "videoImport"
     from (values (1)) one left join page on true left join video v on v.id = page.video_id ${videoJoins}
     order by page.created_at ${order}, page.id ${order}`,
    values,
  )
  return { total: rows[0]?.total ?? 0, rows: rows.flatMap(rowOf) }
}

/** One import with its video. */
export async function findVideoImport(db: Pick<Database, 'query'>, id: number): Promise<VideoImportRow | undefined> {
  const rows = await db.query<Flat>(
    `select 1 as total, ${listColumns}, ${COLUMNS} as "videoImport"
     from video_import page left join video v on v.id = page.video_id and v.state <> 'removed' ${videoJoins}
     where page.id = $1`,
    [id],
  )
  return rows.flatMap(rowOf)[0]
}

/** The addresses whose video was imported into the channel, or is being imported. */
export async function findImportedUrls(
  db: Pick<Database, 'query'>,
  { channelId, targetUrls }: { channelId: number; targetUrls: readonly string[] },
): Promise<Set<string>> {
  const rows = await db.query<{ url: string }>(
    `select distinct w.url from unnest((select $2::text[])) as w(url)
       join video_import i on i.channel_id = $1 and md5(i.target_url) = md5(w.url) and i.target_url = w.url
     where i.state in ('pending', 'processing', 'success')`,
    [channelId, targetUrls],
  )
  return new Set(rows.map(({ url }) => url))
}

const matching = (pattern: string): string =>
  `(n.name ilike ${pattern} or i.target_url ilike ${pattern} or i.magnet_uri ilike ${pattern} or i.torrent_name ilike ${pattern})`

const rowOf = ({ total: _total, videoImport, ...video }: Flat): VideoImportRow[] =>
  videoImport ? [{ videoImport, video: video.id === null ? null : (video as VideoListRow) }] : []

/** `VideoImportState` of the contract, as clients are shown it. */
export const videoImportStates: Readonly<Record<VideoImportState, { id: number; label: string }>> = {
  pending: { id: videoImportStateIds.pending, label: 'Pending' },
  processing: { id: videoImportStateIds.processing, label: 'Processing' },
  success: { id: videoImportStateIds.success, label: 'Success' },
  failed: { id: videoImportStateIds.failed, label: 'Failed' },
  rejected: { id: videoImportStateIds.rejected, label: 'Rejected' },
  cancelled: { id: videoImportStateIds.cancelled, label: 'Cancelled' },
}
