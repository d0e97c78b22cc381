// Remote playlists: stored as their origin describes them; a job reads their elements.

import { type Aliased, type Columns, isUniqueViolation } from '../../platform/database/index.ts'
import { newUuid } from '../../platform/ids.ts'
import { blockDeletes, isDeletedBy } from '../incoming-activity/index.ts'
import { type ActorDeps, DomainError, type Unit } from '../runtime/index.ts'
import { type Playlist, playlistTypes } from './playlist.entity.ts'

/** The content of a playlist document, parsed and checked by the wire layer. */
export interface RemotePlaylist {
  url: string
  uuid: string
  /** Row of its owner, and of the owner's channel. */
  accountId: number
  channelId: number
  name: string
  description: string | null
  privacy: 1 | 2
  thumbnailUrl: string | null
  createdAt: Date
  updatedAt: Date
}

export interface RemoteElement {
  url: string
  videoId: number
  startTimestamp: number | null
  stopTimestamp: number | null
}

export type StoredPlaylist = Aliased<Playlist, 'id' | 'url' | 'accountId' | 'refreshedAt' | 'updatedAt'>

export interface SaveOptions {
  thenRead?: boolean
  askedAt?: Date | undefined
}

/** Pause between two refreshes of a stale playlist, in ms. */
const PAUSE = 3_600_000

export const PLAYLIST_JOB = 'playlist-reading'

const COLUMNS = 'id, url, account_id as "accountId", refreshed_at as "refreshedAt", updated_at as "updatedAt"'

export type RemotePlaylists = ReturnType<typeof makeRemotePlaylists>

export function makeRemotePlaylists({ db, tell }: ActorDeps) {
  const find = async (key: { url: string } | { id: number }): Promise<StoredPlaylist | undefined> => {
    const [where, value] = 'id' in key ? ['id = $1', key.id] : ['url_hash = md5($1)::uuid and url = $1', key.url]
    const [row] = await db.query<StoredPlaylist>(`select ${COLUMNS} from playlist where ${where} and remote`, [value])
    return row
  }

  const saveAs = (playlist: RemotePlaylist, { thenRead = false, askedAt }: SaveOptions): Promise<StoredPlaylist> =>
    tell.create(async (unit) => {
      await blockDeletes(unit.query, [playlist.url])
      if (askedAt) await refuseDeleted(unit, playlist, askedAt)
      const saved = await upsert(unit, playlist)
      if (saved) {
        if (thenRead) ask(unit, saved.id, saved.updatedAt)
        return saved
      }
      const [known] = await unit.query<StoredPlaylist>(
        `select ${COLUMNS} from playlist
         where url_hash = md5($1)::uuid and url = $1 and remote and account_id = $2`,
        [playlist.url, playlist.accountId],
      )
      if (!known) throw new DomainError('forbidden', `${playlist.url} is a playlist of another owner.`)
      return known
    })

  return {
    find,

    /**
     * Stores or refreshes it; an older document changes nothing. With `thenRead` a job reads the elements. Throws `forbidden` if its
     * address or UUID belongs to a playlist of another owner, and `gone` if its owner deleted it after `askedAt`.
     */
    async save(playlist: RemotePlaylist, options: SaveOptions = {}): Promise<StoredPlaylist> {
      try {
        return await saveAs(playlist, options)
      } catch (error) {
        if (!isUniqueViolation(error, 'playlist_uuid')) throw error
        // As for videos: nobody can block a playlist of others by taking its UUID.
        return await saveAs({ ...playlist, uuid: newUuid() }, options)
      }
    },

    /**
     * Replaces its elements, in this order; elements in `missed` could not be fetched and stay as they are stored. Does nothing if the
     * playlist changed since `asOf`: a newer job reads it again.
     */
    async putElements(id: number, { elements, missed, asOf }: { elements: RemoteElement[]; missed: string[]; asOf: Date }): Promise<void> {
      await tell({ aggregate: 'playlist', id }, async (unit) => {
        const [current] = await unit.query<Columns<Playlist, 'updatedAt'>>('select updated_at from playlist where id = $1 and remote', [id])
        if (current?.updated_at.getTime() !== asOf.getTime()) return
        await replaceElements(unit, id, elements, missed)
        await unit.query(
          `update playlist set refreshed_at = $2,
             elements_count = (select count(*) from playlist_element where playlist_id = $1) where id = $1`,
          [id, unit.now],
        )
      })
    },

    /**
     * Queues a job that refreshes it with its elements; at most once an hour, so that views do not cause repeated requests to an
     * unreachable server.
     */
    async askToRead(id: number): Promise<void> {
      await tell.create(async (unit) => {
        const asked = await unit.query(
          `update playlist set refresh_asked_at = $2 where id = $1 and remote
             and (refresh_asked_at is null or refresh_asked_at < $3) returning id`,
          [id, unit.now, new Date(unit.now.getTime() - PAUSE)],
        )
        if (asked.length > 0) ask(unit, id)
      })
    },

    /** Removes it. Throws `forbidden` unless it belongs to that account. */
    async remove(id: number, { accountId }: { accountId: number | null }): Promise<void> {
      await tell({ aggregate: 'playlist', id }, async (unit) => {
        const [gone] = await unit.query('delete from playlist where id = $1 and remote and account_id = $2 returning id', [id, accountId])
        if (!gone) throw new DomainError('forbidden', 'Only its owner removes a playlist.')
      })
    },

    /** Its channel was removed; it stays with its owner. */
    async leaveChannel(id: number): Promise<void> {
      await tell({ aggregate: 'playlist', id }, async (unit) => {
        await unit.query('update playlist set channel_id = null where id = $1 and remote', [id])
      })
    },
  }
}

async function refuseDeleted(unit: Unit, { url, accountId }: RemotePlaylist, askedAt: Date): Promise<void> {
  const actorIds = 'array(select a.actor_id from account a where a.id = $2)'
  const [row] = await unit.query<{ isDeleted: boolean }>(`select ${isDeletedBy({ url: '$1', actorIds, since: '$3' })} as "isDeleted"`, [
    url,
    accountId,
    askedAt,
  ])
  if (row?.isDeleted) throw new DomainError('gone', `${url} was deleted while it was read.`)
}

/** A reported change is read even while an earlier state is being read. */
function ask(unit: Unit, playlistId: number, updatedAt?: Date): void {
  const change = updatedAt === undefined ? '' : `-${updatedAt.getTime()}`
  unit.enqueue({ type: PLAYLIST_JOB, data: { playlistId }, dedupeKey: `${PLAYLIST_JOB}-${playlistId}${change}` })
}

/** The row; undefined if the stored state is newer, or belongs to another owner. */
async function upsert(unit: Unit, playlist: RemotePlaylist): Promise<StoredPlaylist | undefined> {
  // A date in the future would block every later change.
  const notLater = (date: Date) => new Date(Math.min(date.getTime(), unit.now.getTime()))
  const [row] = await unit.query<StoredPlaylist>(
    `insert into playlist (uuid, account_id, channel_id, remote, url, name, description, type, privacy,
       thumbnail_filename, thumbnail_url, created_at, updated_at)
     values ($1, $2, $3, true, $4, $5, $6, $7, $8, case when $9::text is not null then gen_random_uuid() || '.jpg' end,
       $9, $10, $11)
     on conflict (url_hash) do update set channel_id = excluded.channel_id, name = excluded.name,
       description = excluded.description, privacy = excluded.privacy,
       thumbnail_filename = case when playlist.thumbnail_url is not distinct from excluded.thumbnail_url
         then playlist.thumbnail_filename else excluded.thumbnail_filename end,
       thumbnail_url = excluded.thumbnail_url, updated_at = excluded.updated_at
     where playlist.url = excluded.url and playlist.remote and playlist.account_id = excluded.account_id
       and playlist.updated_at <= excluded.updated_at
     returning ${COLUMNS}`,
    [
      playlist.uuid,
      playlist.accountId,
      playlist.channelId,
      playlist.url,
      playlist.name,
      playlist.description,
      playlistTypes.regular,
      playlist.privacy,
      playlist.thumbnailUrl,
      notLater(playlist.createdAt),
      notLater(playlist.updatedAt),
    ],
  )
  return row
}

/** Skips an element whose address belongs to another playlist. */
async function replaceElements(unit: Unit, id: number, elements: RemoteElement[], missed: string[]): Promise<void> {
  const rows = JSON.stringify(elements.map((element, index) => ({ ...element, position: index + 1 })))
  await unit.query('delete from playlist_element where playlist_id = $1 and not (url = any($2::text[]))', [
    id,
    [...elements.map(({ url }) => url), ...missed],
  ])
  await unit.query(
    `insert into playlist_element (playlist_id, video_id, url, position, start_timestamp, stop_timestamp, created_at, updated_at)
     select distinct on (e.url) $1, v.id, e.url, e.position, e."startTimestamp", e."stopTimestamp", $3, $3
     from jsonb_to_recordset($2) as e(url text, "videoId" int, position int, "startTimestamp" int, "stopTimestamp" int)
       join video v on v.id = e."videoId"
     order by e.url, e.position
     on conflict (url_hash) do update set video_id = excluded.video_id, position = excluded.position,
       start_timestamp = excluded.start_timestamp, stop_timestamp = excluded.stop_timestamp,
       updated_at = excluded.updated_at
     where playlist_element.playlist_id = excluded.playlist_id and playlist_element.url = excluded.url`,
    [id, rows, unit.now],
  )
}
