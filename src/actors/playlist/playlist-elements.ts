// Elements of a local playlist: added, changed, removed and reordered. Positions are 1, 2, 3 and so on.

import type { Sql } from '../../platform/database/index.ts'
import { type ActorDeps, DomainError, notFound, recountNext, type Unit } from '../runtime/index.ts'
import type { Viewer } from '../session/index.ts'
import { assertMayManagePlaylist, type GuardedPlaylist, isOpenPlaylist } from './playlist.policy.ts'

/** Start and end of the played part, in seconds of the video. */
export interface Timestamps {
  startTimestamp?: number | null | undefined
  stopTimestamp?: number | null | undefined
}

export interface NewElement extends Timestamps {
  videoId: number
}

interface LockedPlaylist extends GuardedPlaylist {
  elementsCount: number
}

export type PlaylistElements = ReturnType<typeof makePlaylistElements>

export function makePlaylistElements({ tell }: Pick<ActorDeps, 'tell'>) {
  /** Runs a change under the lock of the playlist, and announces it unless the playlist is private. */
  async function within<T>(id: number, by: NonNullable<Viewer>, work: (unit: Unit, playlist: LockedPlaylist) => Promise<T>): Promise<T> {
    return await tell({ aggregate: 'playlist', id }, async (unit) => {
      const [playlist] = await unit.query<LockedPlaylist>(
        `select privacy, type, remote, account_id as "accountId", elements_count as "elementsCount"
         from playlist where id = $1`,
        [id],
      )
      if (!playlist) throw notFound('Video playlist not found')
      assertMayManagePlaylist(playlist, by, 'UPDATE_ANY_VIDEO_PLAYLIST')
      const done = await work(unit, playlist)
      await unit.query(
        `update playlist set updated_at = $2,
           elements_count = (select count(*) from playlist_element where playlist_id = $1) where id = $1`,
        [id, unit.now],
      )
      if (isOpenPlaylist(playlist.privacy)) {
        unit.emit({ aggregate: 'playlist', id }, 'PlaylistUpdated', { playlistId: id })
      }
      return done
    })
  }

  return {
    /** Appends. Returns the id of the element. Throws `not_found`, `forbidden`, and `invalid` for one that stops before it starts. */
    add(playlistId: number, by: NonNullable<Viewer>, { videoId, startTimestamp, stopTimestamp }: NewElement): Promise<number> {
      return within(playlistId, by, async (unit, { elementsCount }) => {
        const [element] = await unit.query<{ id: number }>(
          `insert into playlist_element (playlist_id, video_id, position, start_timestamp, stop_timestamp, created_at, updated_at)
           select $1, v.id, $3, $4, $5, $6, $6 from video v where v.id = $2 and v.state <> 'removed' for key share of v
           returning id`,
          [playlistId, videoId, elementsCount + 1, startTimestamp ?? null, stopTimestamp ?? null, unit.now],
        )
        if (!element) throw notFound('Video not found')
        if (isBackward({ startTimestamp, stopTimestamp })) throw backward()
        return element.id
      })
    },

    /** Omitted fields stay. Throws like `add`. */
    async change(playlistId: number, elementId: number, by: NonNullable<Viewer>, { startTimestamp, stopTimestamp }: Timestamps) {
      await within(playlistId, by, async (unit) => {
        const [changed] = await unit.query<Timestamps>(
          `update playlist_element set updated_at = $3,
             start_timestamp = case when $4 then $5::int else start_timestamp end,
             stop_timestamp = case when $6 then $7::int else stop_timestamp end
           where id = $2 and playlist_id = $1
           returning start_timestamp as "startTimestamp", stop_timestamp as "stopTimestamp"`,
          [
            playlistId,
            elementId,
            unit.now,
            startTimestamp !== undefined,
            startTimestamp ?? null,
            stopTimestamp !== undefined,
            stopTimestamp ?? null,
          ],
        )
        if (!changed) throw noElement()
        if (isBackward(changed)) throw backward()
      })
    },

    async remove(playlistId: number, elementId: number, by: NonNullable<Viewer>): Promise<void> {
      await within(playlistId, by, async (unit) => {
        const [removed] = await unit.query<{ position: number }>(
          'delete from playlist_element where id = $2 and playlist_id = $1 returning position',
          [playlistId, elementId],
        )
        if (!removed) throw noElement()
        await unit.query('update playlist_element set position = position - 1 where playlist_id = $1 and position > $2', [
          playlistId,
          removed.position,
        ])
      })
    },

    /**
     * Moves `length` elements that begin at the position `start` after the one at `after`; 0 is the beginning. Throws `invalid` for unknown
     * positions.
     */
    async move(playlistId: number, by: NonNullable<Viewer>, { start, after, length }: { start: number; after: number; length: number }) {
      await within(playlistId, by, async (unit, { elementsCount: max }) => {
        if (start > max || after > max) {
          throw new DomainError('invalid', `Start position or insert after position exceed the playlist limits (max: ${max})`)
        }
        const end = start + length - 1
        if (end > max) {
          throw new DomainError('invalid', `Reorder length with this start position exceeds the playlist limits (max: ${max})`)
        }
        if (after >= start && after <= end) return
        await unit.query(
          `update playlist_element e set position = o.position, updated_at = $5 from (
             select id, row_number() over (
               order by case when position between $2 and $3 then $4 else position end, position between $2 and $3, position
             ) as position
             from playlist_element where playlist_id = $1
           ) o where e.id = o.id and e.position <> o.position`,
          [playlistId, start, end, after, unit.now],
        )
      })
    },
  }
}

/**
 * Inserts the elements of a new playlist. Returns how many: removed videos are left out. An element that would stop before it starts plays
 * to the end.
 */
export async function insertElements(unit: Unit, playlistId: number, elements: readonly NewElement[]): Promise<number> {
  const rows = await unit.query(
    `with wanted as (
       select * from unnest((select $2::int[]), (select $3::int[]), (select $4::int[])) with ordinality w (video_id, start_at, stop_at, place)
     ), held as materialized (
       select id from video where id in (select video_id from wanted) and state <> 'removed' order by id for key share
     )
     insert into playlist_element (playlist_id, video_id, position, start_timestamp, stop_timestamp, created_at, updated_at)
     select $1, w.video_id, row_number() over (order by w.place), w.start_at, w.stop_at, $5, $5
     from wanted w join held on held.id = w.video_id returning id`,
    [
      playlistId,
      elements.map(({ videoId }) => videoId),
      elements.map(({ startTimestamp }) => startTimestamp ?? null),
      elements.map((element) => (isBackward(element) ? null : (element.stopTimestamp ?? null))),
      unit.now,
    ],
  )
  return rows.length
}

/** SQL for the counters of a playlist `t`; elements of removed videos count too. */
const elementCounts = {
  elements_count: '(select count(*) from playlist_element e where e.playlist_id = t.id)',
}

/** Recounts the elements of the next playlists. */
export const recountPlaylists = (query: Sql, place: { after: number; limit: number }) =>
  recountNext(query, { ...place, table: 'playlist', counts: elementCounts })

const isBackward = ({ startTimestamp, stopTimestamp }: Timestamps): boolean =>
  typeof stopTimestamp === 'number' && stopTimestamp < (startTimestamp ?? 0)

const backward = (): DomainError =>
  new DomainError('invalid', 'An element of a playlist cannot stop before it starts.', {
    invalidParams: [{ name: 'stopTimestamp', location: 'body', msg: 'Should not be before startTimestamp' }],
  })

const noElement = () => notFound('Video playlist element not found')
