// A running export, as the writers of its parts see it.

import type { Config } from '../../config/index.ts'
import type { Ffmpeg, Store } from '../../media/index.ts'
import type { Sql } from '../../platform/database/index.ts'
import { type ActorImageRow, actorImageTypes, imagesOf } from '../actor/index.ts'
import type { LocalUrls } from '../runtime/index.ts'
import type { ArchiveDocuments, ArchivedVideo } from './archive-documents.ts'
import type { ArchiveWriter } from './archive-writer.ts'

/** What every writer of a part uses. */
export interface Export {
  query: Sql
  store: Store
  ffmpeg: Ffmpeg
  config: () => Config
  urls: LocalUrls
  documents: ArchiveDocuments
  writer: ArchiveWriter
  user: ExportedUser
  withVideoFiles: boolean
  /** The videos in the archive, with their files. */
  archivedVideos: Map<number, ArchivedVideo>
  signal: AbortSignal
  /** 0 to 100. */
  progress(percent: number): void
}

/** An account or a channel. */
export interface ExportedActor {
  /** Id of the account or channel, and of its actor. */
  id: number
  actorId: number
  url: string
  /** The part of the handle before the host. */
  username: string
  name: string
  description: string | null
  createdAt: string
  updatedAt: string
  /** Smallest first. */
  avatars: ActorImageRow[]
  banners: ActorImageRow[]
}

export interface ExportedUser {
  userId: number
  account: ExportedActor
  channels: (ExportedActor & { support: string | null })[]
}

const actor = (noun: string, x: string): string =>
  `jsonb_build_object('id', ${noun}.id, 'actorId', ${x}.id, 'url', ${x}.url, 'username', ${x}.preferred_username,
     'name', ${noun}.name, 'description', ${noun}.description, 'createdAt', ${noun}.created_at,
     'updatedAt', ${noun}.updated_at, 'avatars', ${imagesOf(x, actorImageTypes.avatar)},
     'banners', ${imagesOf(x, actorImageTypes.banner)})`

/** Undefined if the user is removed or being removed. One statement. */
export async function findExportedUser(query: Sql, userId: number): Promise<ExportedUser | undefined> {
  const [row] = await query<ExportedUser>(
    `select u.id as "userId", ${actor('a', 'x')} as account,
       (select coalesce(jsonb_agg(${actor('c', 'y')} || jsonb_build_object('support', c.support) order by c.id), '[]')
        from channel c join actor y on y.id = c.actor_id where c.account_id = a.id and c.state = 'active') as channels
     from users u join account a on a.user_id = u.id join actor x on x.id = a.actor_id
     where u.id = $1 and u.state <> 'deleted'`,
    [userId],
  )
  return row
}
