// Likes and dislikes: at most one per account and video. The counts are updated by deltas.

import type { Columns, Sql } from '../../platform/database/index.ts'
import type { Actor } from '../actor/actor.entity.ts'
import { type ActorDeps, DomainError, notFound, type PassOn, type Unit } from '../runtime/index.ts'
import { addDelta, announceCounts, isOpen, type Openness } from '../video/index.ts'
import type { Rating, RatingType } from './rating.entity.ts'

type RatingRow = Columns<typeof Rating, 'id' | 'url' | 'type'>

export type Ratings = ReturnType<typeof makeRatings>

export function makeRatings(deps: ActorDeps) {
  const { tell, urls } = deps

  /** Serialises ratings of one account and video: there is no row to lock before the first one. */
  const alone = (unit: Unit, videoId: number, accountId: number) => unit.query('select pg_advisory_xact_lock($1, $2)', [videoId, accountId])

  return {
    /** A local user rates, changes or removes the rating. Throws `not_found`. */
    async setRating({ videoId, accountId, rating }: { videoId: number; accountId: number; rating: RatingType | 'none' }): Promise<void> {
      await tell.create(async (unit) => {
        await alone(unit, videoId, accountId)
        await videoOf(unit.query, videoId)
        const actor = await actorOf(unit.query, accountId)
        const before = await find(unit.query, videoId, accountId)
        if ((before?.type ?? 'none') === rating) return
        announceCounts(unit, videoId)
        if (rating === 'none') {
          if (before) await remove(unit, videoId, before, actor.id)
          return
        }
        const url = rating === 'like' ? urls.like(actor.url, videoId) : urls.dislike(actor.url, videoId)
        await put(unit, { videoId, accountId, type: rating, url }, before, actor.id)
      })
    },

    /**
     * A remote account rates. Idempotent. Ratings of remote videos are counted by their own server. Returns true if the rating changed.
     * Throws `not_found`, and `forbidden` for a private video or the URL of another rating.
     */
    async receiveRating(rating: {
      url: string
      videoId: number
      accountId: number
      type: RatingType
      /** Runs if the rating changed. */
      passOn?: PassOn
    }): Promise<boolean> {
      const { url, videoId, accountId, type, passOn } = rating
      return await tell.create(async (unit) => {
        await alone(unit, videoId, accountId)
        const video = await videoOf(unit.query, videoId)
        if (video.remote) return false
        if (!isOpen(video)) throw new DomainError('forbidden', 'This video is not public.')
        const before = await find(unit.query, videoId, accountId)
        if (before?.type === type && before.url === url) return false
        const [clash] = await unit.query(
          'select 1 from rating where url_hash = md5($1)::uuid and (video_id, account_id) is distinct from ($2, $3)',
          [url, videoId, accountId],
        )
        if (clash) throw new DomainError('forbidden', 'This address belongs to another rating.')
        await put(unit, { videoId, accountId, type, url }, before, (await actorOf(unit.query, accountId)).id)
        if (before?.type === type) return false
        await passOn?.(unit, videoId)
        return true
      })
    },

    /** With `only`: not if another rating has replaced it. */
    async removeReceivedRating({ videoId, accountId, only }: { videoId: number; accountId: number; only?: { id: number; url: string } }) {
      await tell.create(async (unit) => {
        await alone(unit, videoId, accountId)
        const before = await find(unit.query, videoId, accountId)
        if (only && (before?.id !== only.id || before.url !== only.url)) return
        if (before) await remove(unit, videoId, before, (await actorOf(unit.query, accountId)).id)
      })
    },
  }
}

/**
 * Events belong to the actor, not to the rating: a like that is removed and repeated is a second row, and its Like must not overtake the
 * Undo of the first one.
 */
const ordered = (actorId: number) => ({ aggregate: 'actor', id: actorId }) as const

async function put(
  unit: Unit,
  rating: { videoId: number; accountId: number; type: RatingType; url: string },
  before: RatingRow | undefined,
  actorId: number,
): Promise<void> {
  const { videoId, accountId, type, url } = rating
  const [row] = await unit.query<Columns<typeof Rating, 'id'>>(
    `insert into rating (video_id, account_id, type, url, created_at, updated_at) values ($1, $2, $3, $4, $5, $5)
     on conflict (video_id, account_id) do update set type = excluded.type, url = excluded.url, updated_at = excluded.updated_at
     returning id`,
    [videoId, accountId, type, url, unit.now],
  )
  if (!row) throw new Error('The rating was not stored.')
  // The same rating under another URL, by which it may be undone.
  if (before?.type === type) return
  const sign = type === 'like' ? 1 : -1
  await addDelta(unit, videoId, before ? { likes: sign, dislikes: -sign } : type === 'like' ? { likes: 1 } : { dislikes: 1 })
  unit.emit(ordered(actorId), 'RatingSet', { ratingId: row.id, videoId })
}

async function remove(unit: Unit, videoId: number, row: RatingRow, actorId: number): Promise<void> {
  await unit.query('delete from rating where id = $1', [row.id])
  await addDelta(unit, videoId, row.type === 'like' ? { likes: -1 } : { dislikes: -1 })
  const { url, type } = row
  unit.emit(ordered(actorId), 'RatingRemoved', { url, type, actorId, videoId })
}

/** The video, locked until the rating is stored. */
async function videoOf(query: Sql, videoId: number): Promise<Openness & { remote: boolean }> {
  const [video] = await query<Openness & { remote: boolean }>(
    "select remote, privacy, blocked from video where id = $1 and state <> 'removed' for key share",
    [videoId],
  )
  if (!video) throw notFound('Video not found')
  return video
}

async function find(query: Sql, videoId: number, accountId: number): Promise<RatingRow | undefined> {
  const [row] = await query<RatingRow>('select id, type, url from rating where video_id = $1 and account_id = $2', [videoId, accountId])
  return row
}

async function actorOf(query: Sql, accountId: number): Promise<{ id: number; url: string }> {
  const [actor] = await query<Columns<Actor, 'id' | 'url'>>(
    'select x.id, x.url from account a join actor x on x.id = a.actor_id where a.id = $1',
    [accountId],
  )
  if (!actor) throw notFound('This account does not exist.')
  return actor
}

/** The rating of a video by an account. */
export async function findRating(query: Sql, videoId: number, accountId: number): Promise<RatingType | 'none'> {
  return (await find(query, videoId, accountId))?.type ?? 'none'
}
