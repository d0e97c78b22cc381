// Walks over the outboxes of followed actors. The position is stored page by page, so that any worker continues where the last one stopped.
// The machine `history-walk` decides about retries.

import type { Columns } from '../../platform/database/index.ts'
import {
  dueIn,
  type HistoryWalkContext,
  type HistoryWalkEvent,
  type HistoryWalkState,
  historyWalkMachine,
  initialHistoryWalk,
} from '../../state-machines/history-walk.ts'
import { type ActorDeps, advanceRow, DomainError, defineLifecycle, ignoreNotFound, type Move, takes, type Unit } from '../runtime/index.ts'
import type { Follow, HistoryWalk as HistoryWalkEntity } from './follow.entity.ts'

/** The task of a walk's job. */
export interface HistoryWalk {
  id: number
  /** The actor whose outbox is read. */
  actorId: number
  outboxUrl: string
  /** The next page; null if only deferred items are left. */
  nextUrl: string | null
  extent: HistoryWalkContext['extent']
  /** Content that was read after this is fresh. */
  since: Date
  /** Items read so far. */
  seen: number
  /** Deferred items: addresses of activities or videos. */
  aside: string[]
}

export interface HistoryPage {
  url: string
  /** The page after it; null at the end. */
  next: string | null
  /** Number of items that the collection claims; null if it does not say. */
  total: number | null
  /** Items of this page. */
  items: number
  /** Items that cannot be fetched now. */
  aside: string[]
}

/** Progress of a walk. */
export interface HistoryProgress {
  nextUrl: string | null
  seen: number
  total: number | null
}

interface Row
  extends Columns<typeof HistoryWalkEntity, 'id' | 'actorId' | 'nextUrl' | 'since' | 'pages' | 'seen' | 'total' | 'state' | 'context'> {
  outbox_url: string | null
  followed: boolean
}

const IS_FOLLOWED = `a.deleted_at is null and exists (
      select 1 from follow f join actor o on o.id = f.follower_id
      where f.target_id = w.actor_id and f.state = 'accepted' and o.host_id is null) as followed`

const FOLLOWED = `select ${IS_FOLLOWED} from history_walk w join actor a on a.id = w.actor_id where w.id = $1`

const LOAD = `
  select w.id, w.actor_id, w.state, w.context, w.next_url, w.since, w.pages, w.seen, w.total, a.outbox_url, ${IS_FOLLOWED}
  from history_walk w join actor a on a.id = w.actor_id where w.id = $1`

/** Random part added to a wait, so that not all outboxes are read at the same hour. */
const SPREAD = 1 / 10

const historyWalkLifecycle = defineLifecycle({
  table: 'history_walk',
  machine: historyWalkMachine,
  initial: initialHistoryWalk,
  dueIn,
  endOfWait(wait, { now, state, row }: { now: number; state: HistoryWalkState; row: Row }) {
    const spread = state === 'done' || state === 'failed' ? wait * SPREAD * ((row.id % 97) / 97) : 0
    return now + wait + spread
  },
})

/** Servers may claim any number. */
const MOST = 2_147_483_647

export type HistoryWalks = ReturnType<typeof makeHistoryWalks>

export function makeHistoryWalks(deps: ActorDeps) {
  const { db, tell, registry, config } = deps
  const settings = () => config().vireo.federation.backfill

  registry.on('FollowAccepted', 'history', async ({ followId }, unit) => {
    const [follow] = await unit.query<Columns<Follow, 'targetId'> & { outbox_url: string; others: boolean }>(
      `select f.target_id, b.outbox_url, exists (
         select 1 from follow g join actor o on o.id = g.follower_id
         where g.target_id = f.target_id and g.id <> f.id and g.state = 'accepted' and o.host_id is null) as others
       from follow f join actor a on a.id = f.follower_id join actor b on b.id = f.target_id
       where f.id = $1 and f.state = 'accepted' and a.host_id is null and b.host_id is not null and b.outbox_url is not null`,
      [followId],
    )
    if (!follow) return
    const [walk] = await unit.query<Columns<typeof HistoryWalkEntity, 'id'> & { fresh: boolean }>(
      `insert into history_walk (actor_id, state, context, next_url, since) values ($1, $2, $3, $4, $5)
       on conflict (actor_id) do update set actor_id = excluded.actor_id returning id, xmax = 0 as fresh`,
      [follow.target_id, initialHistoryWalk.state, JSON.stringify(initialHistoryWalk.context), follow.outbox_url, unit.now],
    )
    if (!walk) return
    const row = await load(unit, walk.id)
    // A local actor who followed it all the time has received everything.
    if (!row || (!walk.fresh && follow.others && row.state !== 'stopped')) return
    await move(unit, row, { type: 'ASKED' })
  })

  // The server published to nobody here while it was dormant: read its outboxes now, not in a day.
  registry.on('HostAwoke', 'history', async ({ hostId }, unit) => {
    await unit.query(
      `update history_walk w set due_at = $2 from actor a
       where a.id = w.actor_id and a.host_id = $1 and w.state in ('done', 'failed', 'retrying', 'incomplete')`,
      [hostId, unit.now],
    )
  })

  registry.timeout('history_walk', {
    of: historyWalkLifecycle,
    timedOut: (id) =>
      withWalk(id, async (unit, row) => {
        await move(unit, row, { type: row.followed ? 'TIMED_OUT' : 'STOPPED' })
      }),
  })

  const withWalk = async <T>(id: number, work: (unit: Unit, row: Row) => Promise<T>): Promise<T> =>
    await tell({ aggregate: 'history_walk', id }, async (unit) => {
      const row = await load(unit, id)
      if (!row) throw new Error(`The walk ${id} has no actor.`)
      return await work(unit, row)
    })

  /** Sends one event to the machine of a walk and stores the new state. Queues its job if it waits. */
  async function move(unit: Unit, row: Row, event: HistoryWalkEvent): Promise<Move<typeof historyWalkMachine>> {
    const move = await advanceRow(unit, historyWalkLifecycle, row, event, {}, settings())
    const { state, context } = move
    const begins = state === 'waiting' && (event.type === 'ASKED' || ['done', 'failed'].includes(row.state))
    if (begins && context.tries === 0 && (context.extent === 'newest' || event.type === 'ASKED' || !row.next_url)) {
      await rewind(unit, row)
    }
    if (event.type === 'TIMED_OUT' || state === 'waiting') {
      const jobs = { type: 'activitypub-http-fetcher', data: { walkId: row.id }, dedupeKey: `history-${row.id}` }
      if (state === 'waiting' || state === 'walking') unit.enqueue(jobs)
    }
    return move
  }

  async function rewind(unit: Unit, row: Row): Promise<void> {
    await unit.query(
      `update history_walk set next_url = $2, since = $3, pages = 0, seen = 0, total = null, given_up = 0, error = null
       where id = $1`,
      [row.id, row.outbox_url, unit.now],
    )
    await forgetPlaces(unit, row.id)
  }

  return {
    /** Starts or resumes a walk. Undefined if there is nothing to do: it has ended, or no local actor follows the remote one any more. */
    async start(walkId: number): Promise<HistoryWalk | undefined> {
      return await withWalk(walkId, async (unit, row): Promise<HistoryWalk | undefined> => {
        if (!row.followed || row.outbox_url === null) {
          await move(unit, row, { type: 'STOPPED' })
          return undefined
        }
        if (!takes(historyWalkLifecycle, row, { type: 'STARTED' })) return undefined
        await move(unit, row, { type: 'STARTED' })
        const aside = await unit.query<{ url: string }>('select url from history_item where walk_id = $1 order by id', [walkId])
        return {
          id: walkId,
          actorId: row.actor_id,
          outboxUrl: row.outbox_url,
          nextUrl: row.next_url,
          extent: row.context.extent ?? 'whole',
          since: row.since,
          seen: row.seen,
          aside: aside.map(({ url }) => url),
        }
      }).catch((error: unknown) => {
        // The actor is removed, and its walk with it.
        if (error instanceof DomainError && error.kind === 'not_found') return undefined
        throw error
      })
    },

    /** Stores the items of a page and the position of the next one, unless the walk has been there or has reached its limit. */
    pageRead(walkId: number, page: HistoryPage): Promise<HistoryProgress> {
      return withWalk(walkId, async (unit, row) => {
        const { max_pages, max_items, max_put_aside } = settings()
        // A page that another process has stored meanwhile counts once.
        const counted = await unit.query(
          `insert into history_page (walk_id, page_hash) values ($1, md5($2)::uuid) on conflict do nothing returning walk_id`,
          [walkId, page.url],
        )
        if (counted.length === 0) return row.next_url === page.url ? await end(unit, row) : placeOf(row)
        const isFarEnough = row.pages + 1 >= max_pages || row.seen + page.items >= max_items
        const been =
          page.next !== null &&
          (await unit.query('select 1 from history_page where walk_id = $1 and page_hash = md5($2)::uuid', [walkId, page.next]))
        const next = isFarEnough || (been && been.length > 0) ? null : page.next
        const givenUp = await putAside(unit, walkId, page.aside, max_put_aside)
        const [after] = await unit.query<Columns<typeof HistoryWalkEntity, 'nextUrl' | 'seen' | 'total'>>(
          `update history_walk set next_url = $2, pages = pages + 1, seen = seen + $3, total = coalesce($4, total),
             given_up = given_up + $5, error = null where id = $1 returning next_url, seen, total`,
          [walkId, next, page.items, page.total === null ? null : Math.min(page.total, MOST), givenUp],
        )
        await move(unit, row, { type: 'PAGE_READ' })
        return after ? placeOf(after) : placeOf(row)
      })
    },

    /** False if no local actor follows the remote one any more: the walk has ended. */
    async goesOn(walkId: number): Promise<boolean> {
      const [row] = await db.query<{ followed: boolean }>(FOLLOWED, [walkId])
      if (row?.followed) return true
      await ignoreNotFound(
        withWalk(walkId, async (unit, walk) => {
          if (!walk.followed) await move(unit, walk, { type: 'STOPPED' })
        }),
      )
      return false
    },

    /** A deferred item was fetched, or never will be. */
    async settleItem(walkId: number, url: string): Promise<void> {
      await db.query('delete from history_item where walk_id = $1 and url_hash = md5($2)::uuid', [walkId, url])
    },

    finish(walkId: number): Promise<void> {
      return withWalk(walkId, async (unit, row) => {
        const [left] = await unit.query<{ aside: number }>('select count(*)::integer as aside from history_item where walk_id = $1', [
          walkId,
        ])
        const aside = left?.aside ?? 0
        if (!takes(historyWalkLifecycle, row, { type: 'FINISHED', aside, settings: settings() })) return
        const { state } = await move(unit, row, { type: 'FINISHED', aside, settings: settings() })
        if (state !== 'done') return
        await unit.query('update history_walk set given_up = given_up + $2, error = null where id = $1', [walkId, aside])
        await forgetPlaces(unit, walkId)
      })
    },

    /** `hopeless`: retrying the same page cannot help. */
    fail(walkId: number, { reason, hopeless }: { reason: string; hopeless: boolean }): Promise<void> {
      return ignoreNotFound(
        withWalk(walkId, async (unit, row) => {
          const event: HistoryWalkEvent = { type: 'FAILED', hopeless, settings: settings() }
          if (!takes(historyWalkLifecycle, row, event)) return
          await move(unit, row, event)
          await unit.query('update history_walk set error = $2 where id = $1', [walkId, reason.slice(0, 1000)])
        }),
      )
    },
  }
}

const placeOf = (row: Pick<Row, 'next_url' | 'seen' | 'total'>): HistoryProgress => ({
  nextUrl: row.next_url,
  seen: row.seen,
  total: row.total,
})

/** Ends the walk if the next page was read before. */
async function end(unit: Unit, row: Row): Promise<HistoryProgress> {
  await unit.query('update history_walk set next_url = null where id = $1', [row.id])
  return { ...placeOf(row), nextUrl: null }
}

/** Returns how many exceeded the limit. */
async function putAside(unit: Unit, walkId: number, urls: string[], most: number): Promise<number> {
  if (urls.length === 0) return 0
  const [row] = await unit.query<{ count: number }>('select count(*)::integer as count from history_item where walk_id = $1', [walkId])
  const kept = urls.slice(0, Math.max(0, most - (row?.count ?? 0)))
  await unit.query(
    'insert into history_item (walk_id, url) select $1, url from unnest((select $2::text[])) as url on conflict do nothing',
    [walkId, kept],
  )
  return urls.length - kept.length
}

async function forgetPlaces(unit: Unit, walkId: number): Promise<void> {
  await unit.query('delete from history_page where walk_id = $1', [walkId])
  await unit.query('delete from history_item where walk_id = $1', [walkId])
}

async function load(unit: Unit, walkId: number): Promise<Row | undefined> {
  const [row] = await unit.query<Row>(LOAD, [walkId])
  return row
}
