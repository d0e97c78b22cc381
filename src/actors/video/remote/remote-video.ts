// Remote videos: stored as their origin describes them and refreshed on its updates.

import { type Aliased, type Columns, isUniqueViolation } from '../../../platform/database/index.ts'
import { newUuid } from '../../../platform/ids.ts'
import { stateOf } from '../../../state-machines/video.ts'
import { type AutomaticTags, tagVideo } from '../../automatic-tag/index.ts'
import { type Chapter, replaceChapters } from '../../chapter/index.ts'
import { retainComments } from '../../comment/comment.writes.ts'
import { blockDeletes, isDeletedBy } from '../../incoming-activity/index.ts'
import { restoreRatings, retainRatings } from '../../rating/rating.writes.ts'
import { type ActorDeps, DomainError, type Unit } from '../../runtime/index.ts'
import { restoreBlock } from '../../video-block/video-block.writes.ts'
import { hotOf } from '../scores.ts'
import { type Video, videoPrivacies } from '../video.entity.ts'
import { announceVideo } from '../videos-changed.ts'
import { relist } from './listing.ts'
import { type RemoteParts, replaceParts } from './remote-parts.ts'

/** The content of a video document, parsed and checked by the wire layer. */
export interface RemoteVideo extends RemoteParts {
  url: string
  /** The UUID that its server assigned. If a local row has it already, the video gets a new one. */
  uuid: string
  /** Row of the publishing channel, on the video's own server. */
  channelId: number
  name: string
  category: number | null
  licence: number | null
  language: string | null
  privacy: 1 | 2
  nsfw: boolean
  description: string | null
  support: string | null
  /** Seconds. */
  duration: number
  state: string
  waitTranscoding: boolean
  commentsPolicy: 1 | 2 | 3
  downloadEnabled: boolean
  aspectRatio: number | null
  views: number
  tags: string[]
  publishedAt: Date
  originallyPublishedAt: Date | null
  updatedAt: Date
  thumbnails: { type: 1 | 2; fileUrl: string; width: number | null; height: number | null }[]
  files: RemoteFile[]
  trackerUrls: string[]
  playlist: { playlistUrl: string; segmentsSha256Url: string | null; infoHashes: string[]; files: RemoteFile[] } | null
}

export interface RemoteFile {
  resolution: number
  width: number | null
  height: number | null
  size: number
  fps: number
  extname: string
  fileUrl: string
  metadataUrl: string | null
  torrentUrl: string | null
  magnetUrl: string | null
  infoHash: string | null
  formatFlags: number
  streams: number
}

/** The state that another server reports by its number; published if it is missing or unknown. */
export const videoStateOf = (id: number | null): string => (id === null ? undefined : stateOf(id)) ?? 'published'

/** Requests for one video within this time share a job. */
const RATES_EVERY_MS = 2000
/** Delay for the videos of a history, which may have thousands: after the walk, one by one, with the lowest priority. */
const BY_AND_BY_MS = 600_000
const SPREAD = 5000
/** Nobody is notified of videos that are older than this when they arrive. */
const NEWS_MS = 7 * 24 * 3_600_000
const BEHIND = 10

export interface WantedChapters {
  url: string
  /** Exact text, as the database prints it. */
  wantedAt: string
}

export type RemoteVideos = ReturnType<typeof makeRemoteVideos>

export function makeRemoteVideos(deps: ActorDeps & { automaticTags: AutomaticTags }) {
  const { db, tell, clock, automaticTags } = deps

  const saveAs = (video: RemoteVideo, of: { askedAt: Date | undefined; tags: string[] }): Promise<{ id: number; isNew: boolean }> =>
    tell.create(async (unit) => {
      const { askedAt, tags } = of
      await blockDeletes(unit.query, [video.url])
      if (askedAt) await refuseDeleted(unit, video, askedAt)
      const stored = await upsert(unit, video)
      if (stored.isOutdated) return { id: stored.id, isNew: false }
      await replaceThumbnails(unit, stored.id, video)
      await replaceFiles(unit, stored.id, video)
      await replaceParts(unit, stored.id, video)
      if (stored.isNew ? tags.length > 0 : stored.looksNew) await tagVideo(unit.query, stored.id, tags)
      if (stored.isNew) await restoreRatings(unit.query, stored.id)
      await relist(unit.query, [stored.id])
      if (stored.isNew) await restoreBlock(unit, stored.id, video.url)
      if (stored.looksNew) announceVideo(unit, stored.id)
      if (stored.hasStarted) unit.emit({ aggregate: 'video', id: stored.id }, 'LiveStarted', { videoId: stored.id })
      if (stored.isFresh) unit.emit({ aggregate: 'video', id: stored.id }, 'VideoReceived', { videoId: stored.id })
      return { id: stored.id, isNew: stored.isNew }
    })

  return {
    /**
     * Stores or refreshes; `isNew` tells which. Throws DomainError `forbidden` if the id belongs to another server, and `gone` if its owner
     * deleted the video after `askedAt`.
     */
    async save(video: RemoteVideo, { askedAt }: { askedAt?: Date | undefined } = {}): Promise<{ id: number; isNew: boolean }> {
      const of = { askedAt, tags: await automaticTags.ofVideo(video) }
      try {
        return await saveAs(video, of)
      } catch (error) {
        if (!isUniqueViolation(error, 'video_uuid')) throw error
        // The true owner is unknown: the second video gets a new UUID, so that nobody can keep a video of others out.
        return await saveAs({ ...video, uuid: newUuid() }, of)
      }
    },
    async find(url: string): Promise<{ id: number; channelId: number; refreshedAt: Date | null } | undefined> {
      const [row] = await db.query<Aliased<Video, 'id' | 'channelId' | 'refreshedAt'>>(
        `select id, channel_id as "channelId", refreshed_at as "refreshedAt" from video
         where url_hash = md5($1)::uuid and url = $1 and remote`,
        [url],
      )
      return row
    },
    /** The address of the chapters, if they have to be fetched. */
    async wantedChapters(videoId: number): Promise<WantedChapters | undefined> {
      const [wanted] = await db.query<WantedChapters>(
        `select chapters_url as url, chapters_wanted_at::text as "wantedAt" from video
         where id = $1 and remote and chapters_url is not null and chapters_wanted_at is not null`,
        [videoId],
      )
      return wanted
    },
    /** Stores fetched chapters. Returns false if they changed meanwhile and must be fetched again. */
    saveChapters(videoId: number, { url, wantedAt }: WantedChapters, chapters: readonly Chapter[]): Promise<boolean> {
      return tell({ aggregate: 'video', id: videoId }, async (unit) => {
        const rows = await unit.query(
          `update video set chapters_wanted_at = null
           where id = $1 and remote and chapters_url = $2 and chapters_wanted_at = $3::timestamptz returning id`,
          [videoId, url, wantedAt],
        )
        if (rows.length === 0) return false
        await replaceChapters(unit, videoId, chapters)
        announceVideo(unit, videoId)
        return true
      })
    },
    /** Gives up fetching the chapters. */
    async giveUpChapters(videoId: number): Promise<void> {
      await db.query('update video set chapters_wanted_at = null where id = $1 and remote', [videoId])
    },
    /**
     * Queues the job `remote-rates`, which recounts the likes and dislikes of a video. Requests within a short time share a job. `byAndBy`
     * delays it, for one video of many.
     */
    async wantRates(videoId: number, { byAndBy }: { byAndBy: boolean } = { byAndBy: false }): Promise<void> {
      await tell.create(async (unit) =>
        unit.enqueue({
          type: 'remote-rates',
          data: { videoId },
          // It starts after the window in which requests share a job: no request is for a state that it has already read.
          dedupeKey: `remote-rates-${videoId}-${Math.floor(unit.now.getTime() / RATES_EVERY_MS)}`,
          ...(byAndBy ? { delayMs: BY_AND_BY_MS + (videoId % SPREAD) * RATES_EVERY_MS, priority: BEHIND } : { delayMs: RATES_EVERY_MS }),
        }),
      )
    },
    /** Counts of the video's own server, which include the ratings of local users. */
    async saveRates(videoId: number, { likes, dislikes }: { likes: number; dislikes: number }): Promise<void> {
      await tell({ aggregate: 'video', id: videoId }, async (unit) => {
        await unit.query('update video_delta set likes = 0, dislikes = 0 where video_id = $1', [videoId])
        await unit.query('update video set likes = $2, dislikes = $3 where id = $1 and remote', [videoId, likes, dislikes])
      })
    },
    /** Marks the video as read now: it is not older than what is stored. */
    async markRead(videoId: number): Promise<void> {
      await db.query('update video set refreshed_at = $2 where id = $1 and remote', [videoId, clock.now()])
    },
    /**
     * Removes a remote video with its dependent rows and its cached pictures. With `askedAt`, the time of the request to its server, a
     * video that was read later stays.
     */
    async remove(videoId: number, { askedAt }: { askedAt?: Date } = {}): Promise<void> {
      await tell({ aggregate: 'video', id: videoId }, async (unit) => {
        const [newer] = await unit.query('select 1 from video where id = $1 and refreshed_at > $2', [videoId, askedAt ?? null])
        if (newer) return
        await retainComments(unit, videoId)
        await retainRatings(unit, videoId)
        await unit.query('delete from video where id = $1 and remote', [videoId])
        announceVideo(unit, videoId)
      })
    },
  }
}

async function refuseDeleted(unit: Unit, { url, channelId }: RemoteVideo, askedAt: Date): Promise<void> {
  const actorIds = `array(select unnest(array[c.actor_id, a.actor_id]) from channel c
    join account a on a.id = c.account_id where c.id = $2)`
  const [row] = await unit.query<{ isDeleted: boolean }>(`select ${isDeletedBy({ url: '$1', actorIds, since: '$3' })} as "isDeleted"`, [
    url,
    channelId,
    askedAt,
  ])
  if (row?.isDeleted) throw new DomainError('gone', `${url} was deleted while it was read.`)
}

interface Stored {
  id: number
  isNew: boolean
  /** False if the video was just recounted, as after each like. */
  looksNew: boolean
  /** New, and nobody has been notified. */
  isFresh: boolean
  /** A live that did not stream before, or arrives here while it does. */
  hasStarted: boolean
  isOutdated: boolean
}

async function upsert(unit: Unit, video: RemoteVideo): Promise<Stored> {
  // The channel may change (a video can be moved), but only within the server that made the id.
  const [row] = await unit.query<Omit<Stored, 'isOutdated'>>(
    `insert into video (uuid, channel_id, remote, url, name, category, licence, language, privacy, nsfw, description, support,
       duration, state, wait_transcoding, comments_policy, download_enabled, is_live, aspect_ratio, views, tags,
       published_at, originally_published_at, created_at, updated_at, refreshed_at, tracker_urls, hot)
     values ($1, $2, true, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $21, $23, $24, $25,
       ${hotOf({ likes: '0', dislikes: '0', comments: '0', views: '$19::int', publishedAt: '$21::timestamptz' })})
     on conflict (url_hash) do update set channel_id = excluded.channel_id, name = excluded.name,
       category = excluded.category, licence = excluded.licence, language = excluded.language, privacy = excluded.privacy,
       nsfw = excluded.nsfw, description = excluded.description, support = excluded.support, duration = excluded.duration,
       state = excluded.state, wait_transcoding = excluded.wait_transcoding, comments_policy = excluded.comments_policy,
       download_enabled = excluded.download_enabled, is_live = excluded.is_live, aspect_ratio = excluded.aspect_ratio,
       views = excluded.views, tags = excluded.tags, published_at = excluded.published_at,
       originally_published_at = excluded.originally_published_at, updated_at = excluded.updated_at,
       refreshed_at = excluded.refreshed_at, tracker_urls = excluded.tracker_urls
     where video.url = excluded.url and video.remote and video.updated_at <= excluded.updated_at
     returning id, (xmax = 0) as "isNew", not exists (
       select 1 from video was where was.id = video.id and ${shownOf('was')} is not distinct from ${shownOf('video')}
     ) as "looksNew", not subscribers_told and privacy = ${videoPrivacies.public} and state = 'published' and published_at > $26 as "isFresh",
       is_live and state = 'published' and (xmax <> 0 or published_at > $26) and not exists (
         select 1 from video was where was.id = video.id and was.is_live and was.state = 'published'
       ) as "hasStarted"`,
    [
      video.uuid,
      video.channelId,
      video.url,
      video.name,
      video.category,
      video.licence,
      video.language,
      video.privacy,
      video.nsfw,
      video.description,
      video.support,
      video.duration,
      video.state,
      video.waitTranscoding,
      video.commentsPolicy,
      video.downloadEnabled,
      video.live !== null,
      video.aspectRatio,
      video.views,
      video.tags,
      // A date in the future would stay on top of the lists and block every later change.
      atMost(video.publishedAt, unit.now),
      video.originallyPublishedAt,
      atMost(video.updatedAt, unit.now),
      unit.now,
      video.trackerUrls,
      new Date(unit.now.getTime() - NEWS_MS),
    ],
  )
  if (row) return { ...row, isOutdated: false }
  // The stored state is newer than this document, which came another way or by a retry.
  const [newer] = await unit.query<Columns<Video, 'id'>>('select id from video where url_hash = md5($1)::uuid and url = $1 and remote', [
    video.url,
  ])
  if (!newer) throw new DomainError('forbidden', 'This address belongs to a local video.')
  return { id: newer.id, isNew: false, looksNew: false, isFresh: false, hasStarted: false, isOutdated: true }
}

/** Fields that a server changes together with `updated`, and those that it may change without. */
const shownOf = (row: string): string =>
  `(${['updated_at', 'channel_id', 'privacy', 'state', 'name', 'nsfw', 'tags'].map((name) => `${row}.${name}`).join(', ')})`

const atMost = (time: Date, latest: Date): Date => (time < latest ? time : latest)

async function replaceThumbnails(unit: Unit, videoId: number, video: RemoteVideo): Promise<void> {
  const types = video.thumbnails.map((thumbnail) => thumbnail.type)
  await unit.query('delete from thumbnail where video_id = $1 and not (type = any($2))', [videoId, types])
  for (const thumbnail of video.thumbnails) {
    // A new address gets a new local name, so that no cache shows the old picture.
    await unit.query(
      `insert into thumbnail (video_id, type, filename, width, height, file_url, on_disk, automatically_generated)
       values ($1, $2, gen_random_uuid() || '.jpg', $3, $4, $5, false, false)
       on conflict (video_id, type) do update set filename = excluded.filename, width = excluded.width,
         height = excluded.height, file_url = excluded.file_url, on_disk = false
         where thumbnail.file_url is distinct from excluded.file_url`,
      [videoId, thumbnail.type, thumbnail.width, thumbnail.height, thumbnail.fileUrl],
    )
  }
}

async function replaceFiles(unit: Unit, videoId: number, { files, playlist }: RemoteVideo): Promise<void> {
  const playlistId = playlist === null ? null : await upsertPlaylist(unit, videoId, playlist)
  const rows = JSON.stringify([
    ...files.map((file) => ({ ...file, playlistId: null })),
    ...(playlist?.files ?? []).map((file) => ({ ...file, playlistId })),
  ])
  await unit.query(
    `delete from video_file f where f.video_id = $1
       and not exists (select 1 from ${FILES} where n."fileUrl" = f.file_url)`,
    [videoId, rows],
  )
  await unit.query(
    `update video_file f set streaming_playlist_id = n."playlistId", resolution = n.resolution, width = n.width,
       height = n.height, size = n.size, extname = n.extname, fps = n.fps, metadata_url = n."metadataUrl",
       torrent_filename = case when f.torrent_url = n."torrentUrl" and f.torrent_filename is not null then f.torrent_filename
         else ${NEW_TORRENT_NAME} end,
       torrent_url = n."torrentUrl", magnet_url = n."magnetUrl", info_hash = n."infoHash",
       format_flags = n."formatFlags", streams = n.streams
     from ${FILES} where f.video_id = $1 and f.file_url = n."fileUrl"`,
    [videoId, rows],
  )
  await unit.query(
    `insert into video_file (video_id, streaming_playlist_id, resolution, width, height, size, extname, fps, file_url,
       metadata_url, torrent_url, torrent_filename, magnet_url, info_hash, format_flags, streams)
     select $1, n."playlistId", n.resolution, n.width, n.height, n.size, n.extname, n.fps, n."fileUrl", n."metadataUrl",
       n."torrentUrl", ${NEW_TORRENT_NAME}, n."magnetUrl", n."infoHash", n."formatFlags", n.streams
     from ${FILES} where not exists (select 1 from video_file f where f.video_id = $1 and f.file_url = n."fileUrl")
     order by n.place`,
    [videoId, rows],
  )
  if (playlist === null) await unit.query('delete from streaming_playlist where video_id = $1', [videoId])
}

/** The local name of the torrent. It changes with the address, so that no cache shows the old torrent. */
const NEW_TORRENT_NAME = `case when n."torrentUrl" is not null then gen_random_uuid() || '-' || n.resolution || '.torrent' end`

/** The files of `$2` by address: the last one wins. */
const FILES = `(
  select distinct on (all_of."fileUrl") all_of.* from rows from (jsonb_to_recordset($2::jsonb) as ("playlistId" int,
    resolution int, width int, height int, size bigint, extname text, fps int, "fileUrl" text, "metadataUrl" text,
    "torrentUrl" text, "magnetUrl" text, "infoHash" text, "formatFlags" int, streams int)) with ordinality
    as all_of ("playlistId", resolution, width, height, size, extname, fps, "fileUrl", "metadataUrl", "torrentUrl",
      "magnetUrl", "infoHash", "formatFlags", streams, place)
  order by all_of."fileUrl", all_of.place desc) n`

async function upsertPlaylist(
  unit: Unit,
  videoId: number,
  { playlistUrl, segmentsSha256Url, infoHashes }: NonNullable<RemoteVideo['playlist']>,
): Promise<number | null> {
  const [playlist] = await unit.query<{ id: number }>(
    `insert into streaming_playlist (video_id, playlist_url, segments_sha256_url, p2p_media_loader_info_hashes)
     values ($1, $2, $3, $4)
     on conflict (video_id) do update set playlist_url = excluded.playlist_url,
       segments_sha256_url = excluded.segments_sha256_url,
       p2p_media_loader_info_hashes = excluded.p2p_media_loader_info_hashes, updated_at = $5
     returning id`,
    [videoId, playlistUrl, segmentsSha256Url, infoHashes, unit.now],
  )
  return playlist?.id ?? null
}
