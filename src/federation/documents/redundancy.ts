// The documents of local copies of remote videos.

import type { Redundancy } from '../../actors/redundancy/index.ts'
import type { VideoFile } from '../../actors/video/index.ts'
import type { Aliased, Nullable, Sql } from '../../platform/database/index.ts'
import type { Urls } from '../urls.ts'
import { type Audience, buildCacheFile, buildCreate, type CopyDocument, type JsonObject } from '../wire/index.ts'
import { publicAudience } from './activities.ts'

export interface FoundCopy {
  url: string
  videoUrl: string
  /** Maker of the copy: the local instance actor. */
  actorId: number
  /** Owner of the video, on its own server. */
  ownerId: number
  ownerUrl: string
  state: string
  privacy: number
  blocked: boolean
  /** True if the server of its video was notified of it. */
  told: boolean
  expiresOn: Date | null
  updatedAt: Date
  copy: CopyDocument
}

interface CopyRow
  extends Omit<FoundCopy, 'copy'>,
    Aliased<Redundancy, 'fileUrl' | 'size'>,
    Nullable<Aliased<typeof VideoFile, 'resolution' | 'fps' | 'extname'>> {
  isPlaylist: boolean
}

/** A local copy by row id or by address. One statement. */
export async function findCopy(query: Sql, key: { id: number } | { url: string }): Promise<FoundCopy | undefined> {
  const where = 'id' in key ? 'r.id = $1' : 'r.url_hash = md5($1)::uuid and r.url = $1'
  const [row] = await query<CopyRow>(
    `select r.url, v.url as "videoUrl", r.actor_id as "actorId", o.id as "ownerId", o.url as "ownerUrl", r.state, v.privacy, v.blocked,
       coalesce((r.context->>'told')::boolean, false) as told, r.expires_on as "expiresOn", r.updated_at as "updatedAt",
       r.file_url as "fileUrl", r.streaming_playlist_id is not null as "isPlaylist",
       f.resolution, r.size, f.fps, f.extname
     from redundancy r join video v on v.id = r.video_id join channel c on c.id = v.channel_id
       join account a on a.id = c.account_id join actor o on o.id = a.actor_id
       left join video_file f on f.id = r.file_id
     where ${where} and r.path is not null`,
    ['id' in key ? key.id : key.url],
  )
  return row && { ...row, copy: copyOf(row) }
}

const TYPES: Record<string, string> = { '.webm': 'video/webm', '.ogv': 'video/ogg', '.m4a': 'audio/mp4' }

const copyOf = ({ fileUrl, isPlaylist, resolution, size, fps, extname }: CopyRow): CopyDocument =>
  isPlaylist
    ? { kind: 'playlist', url: fileUrl }
    : {
        kind: 'file',
        url: fileUrl,
        mediaType: TYPES[extname ?? ''] ?? 'video/mp4',
        resolution: resolution ?? 0,
        sizeBytes: size,
        fps: fps ?? -1,
      }

/** As everybody reads it, unless it has an audience. */
export const copyDocument = (urls: Urls, found: FoundCopy, audience?: Audience): JsonObject =>
  buildCacheFile({
    id: found.url,
    video: found.videoUrl,
    expiresAt: found.expiresOn,
    copy: found.copy,
    ...(audience ?? publicAudience(urls, urls.instance)),
  })

export function createCopyActivity(urls: Urls, found: FoundCopy, audience?: Audience): JsonObject {
  const addressed = audience ?? publicAudience(urls, urls.instance)
  const object = copyDocument(urls, found, addressed)
  return buildCreate({ id: urls.createOf(found.url), actor: urls.instance, object, ...addressed })
}
