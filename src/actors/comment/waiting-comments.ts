// Threads that need fetches from other servers: replies with unknown parents, and remote videos with stale comments. Jobs fetch them, so
// that neither inboxes nor readers wait.

import { dropRetainedRatings } from '../rating/rating.writes.ts'
import type { ActorDeps } from '../runtime/index.ts'
import { claimStaleComments, hasStaleComments } from '../video/video.writes.ts'
import { dropRetainedBlocks } from '../video-block/video-block.writes.ts'

/** A reply with unknown parents. */
export interface WaitingComment {
  actorId: number
  /** The verified activity that carries it. */
  body: string
}

/** Limits of waiting replies: per actor, per server, and in all. */
const MAX = { actor: 100, host: 500, all: 5000 }
/** Lower priority than work that local users wait for. */
const THREAD_PRIORITY = 10
/** Longer than all attempts of a job take. */
const FORGET_AFTER_MS = 24 * 3_600_000
/** How long comments of a removed remote video, and its block, are retained: it may come back. */
const FORGET_KEPT_AFTER_MS = 365 * 24 * 3_600_000
const CLEAN_UP_EVERY_MS = 3_600_000
/** Comments that wait for a review by the video's server are looked for after this time. */
const SOON_MS = 60_000

export type WaitingComments = ReturnType<typeof makeWaitingComments>

export function makeWaitingComments(deps: ActorDeps) {
  const { db, tell, registry, clock, config } = deps

  registry.periodic('forget-waiting-comments', {
    everyMs: () => CLEAN_UP_EVERY_MS,
    async run() {
      const before = new Date(clock.now().getTime() - FORGET_AFTER_MS)
      await db.query('delete from waiting_comment where created_at < $1', [before])
      const keptBefore = new Date(clock.now().getTime() - FORGET_KEPT_AFTER_MS)
      await db.query('delete from kept_comment where kept_at < $1', [keptBefore])
      await dropRetainedRatings(db.query, keptBefore)
      await dropRetainedBlocks(db.query, keptBefore)
    },
  })

  return {
    /** Stores the reply until the job `comment-thread` has fetched its parents. The number per actor and per server is limited. */
    async hold({ url, actorId, body }: { url: string; actorId: number; body: string }): Promise<void> {
      await tell.create(async (unit) => {
        const [row] = await unit.query<{ id: number }>(
          `insert into waiting_comment (url, actor_id, body, created_at)
           select $1, $2, $3, $4 where (select count(*) from waiting_comment where actor_id = $2) < $5
             and (select count(*) from (
               select 1 from waiting_comment w join actor x on x.id = w.actor_id
               where x.host_id = (select host_id from actor where id = $2) limit $6) of_host) < $6
             and (select count(*) from (select 1 from waiting_comment limit $7) of_all) < $7
           on conflict (url_hash) do update set body = excluded.body
             where waiting_comment.actor_id = excluded.actor_id and waiting_comment.url = excluded.url
           returning id`,
          [url, actorId, body, unit.now, MAX.actor, MAX.host, MAX.all],
        )
        if (!row) return
        unit.enqueue({
          type: 'comment-thread',
          data: { waitingId: row.id },
          dedupeKey: `comment-thread-${row.id}`,
          priority: THREAD_PRIORITY,
        })
      })
    },

    async find(id: number): Promise<WaitingComment | undefined> {
      const [row] = await db.query<WaitingComment>('select actor_id as "actorId", body from waiting_comment where id = $1', [id])
      return row
    },

    /** The reply is stored, or never will be. */
    async forget(id: number): Promise<void> {
      await db.query('delete from waiting_comment where id = $1', [id])
    },

    /** Its author removed it before it was stored. */
    async withdraw({ url, actorId }: { url: string; actorId: number }): Promise<void> {
      await db.query('delete from waiting_comment where url_hash = md5($1)::uuid and url = $1 and actor_id = $2', [url, actorId])
    },

    /** Queues the job `comments-refresh`, which reads the comments of a remote video, unless they were read recently. */
    async askRefresh(videoId: number, { soon = false }: { soon?: boolean } = {}): Promise<void> {
      const before = new Date(clock.now().getTime() - config().vireo.federation.refresh.comments)
      // Most readers find fresh comments, and write nothing.
      if (!(await hasStaleComments(db.query, videoId, before, soon))) return
      await tell.create(async (unit) => {
        if (!(await claimStaleComments(unit, videoId, before, soon))) return
        unit.enqueue({
          type: 'comments-refresh',
          data: { videoId },
          // A running one may have passed the position already.
          dedupeKey: `comments-refresh-${videoId}${soon ? '-soon' : ''}`,
          ...(soon ? { delayMs: SOON_MS } : {}),
        })
      })
    },
  }
}
