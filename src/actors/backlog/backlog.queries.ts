// The backlog of this server, over all processes, for metrics.

import type { Database } from '../../platform/database/index.ts'

export interface Backlog {
  jobs: { type: string; state: string; count: number }[]
  /** Kinds of lanes that are due and not leased. */
  lanes: { kind: string; count: number }[]
  outbox: { state: 'waiting' | 'parked'; count: number }[]
  /** Age of the oldest waiting event in seconds; 0 without one. */
  outboxSeconds: number
  waitingDeliveries: number
  incoming: { state: string; count: number }[]
  hosts: { state: string; count: number }[]
  /** Streams that last or are recorded. */
  liveSessions: { state: string; count: number }[]
  /** Pieces of lives: as received, encoded, or left out by the encoder. */
  livePieces: { state: string; count: number }[]
  /** Age of the oldest piece of a live that waits for its encoder, in seconds; 0 without one. */
  liveSeconds: number
}

/** Limit of counts: the query must be cheap even with a huge backlog. */
const MOST_COUNTED = 100_000
const first = (text: string) => `(${text} limit ${MOST_COUNTED}) as first`

// Parts of one statement; each row is a name, up to two labels and a number.
const PARTS = [
  `select 'jobs', type, state, count(*) from ${first("select type, state from job where state in ('waiting', 'delayed', 'active')")} group by 2, 3`,
  `select 'jobs', type, state, count(*) from ${first("select type, state from job where state in ('pending', 'processing', 'completing')")} group by 2, 3`,
  `select 'jobs', type, state, count(*) from ${first("select type, state from job where state in ('completed', 'failed', 'cancelled', 'errored', 'parent-errored', 'parent-cancelled')")} group by 2, 3`,
  `select 'lanes', kind, '', count(*) from ${first('select kind from lane where due_at <= $1 and (lease_until is null or lease_until < now())')} group by 2`,
  `select 'outbox', case when parked_at is null then 'waiting' else 'parked' end, '', count(*) from ${first('select parked_at from outbox')} group by 2`,
  `select 'outboxSeconds', '', '', coalesce(extract(epoch from $1::timestamptz -
     (select created_at from outbox where parked_at is null order by id limit 1)), 0)`,
  `select 'waitingDeliveries', '', '', count(*) from ${first("select 1 from delivery where state = 'waiting'")}`,
  `select 'incoming', state, '', count(*) from ${first("select state from incoming_activity where state in ('received', 'unverified', 'retrying')")} group by 2`,
  `select 'hosts', state, '', count(*) from ${first('select state from remote_host')} group by 2`,
  `select 'liveSessions', state, '', count(*)
   from live_session where due_at is not null and state in ('receiving', 'publishing', 'interrupted', 'ending', 'unsaved') group by 2`,
  `select 'livePieces', 'received', '', count(*) from ${first('select 1 from live_piece')}`,
  `select 'livePieces', case when bytes is null then 'left out' else 'encoded' end, '', count(*)
   from ${first('select bytes from live_rendition_piece')} group by 2`,
  `select 'liveSeconds', '', '', coalesce(max(extract(epoch from $1::timestamptz - p.starts_at)), 0)
   from live_session s cross join lateral (
     select starts_at from live_piece where session_id = s.id and sequence > coalesce(
       (select max(sequence) from live_rendition_piece where session_id = s.id and rendition = 1), -1) order by sequence limit 1
   ) p where s.due_at is not null and s.state <> 'unsaved' and s.plan->'encoded'->0 is not null`,
]

const BACKLOG = `select p.what, p.one, p.other, p.count::float8 from (${PARTS.join('\n union all ')}) as p (what, one, other, count)`

export async function readBacklog(db: Pick<Database, 'query'>, now: Date): Promise<Backlog> {
  const rows = await db.query<{ what: string; one: string; other: string; count: number }>(BACKLOG, [now])
  const of = (what: keyof Backlog) => rows.filter((row) => row.what === what)
  const byState = (what: keyof Backlog) => of(what).map(({ one, count }) => ({ state: one, count }))
  const sum = (what: keyof Backlog) => of(what).reduce((total, { count }) => total + count, 0)
  return {
    jobs: of('jobs').map(({ one, other, count }) => ({ type: one, state: other, count })),
    lanes: of('lanes').map(({ one, count }) => ({ kind: one, count })),
    outbox: (['waiting', 'parked'] as const).map((state) => ({
      state,
      count: of('outbox').find(({ one }) => one === state)?.count ?? 0,
    })),
    outboxSeconds: Math.max(0, sum('outboxSeconds')),
    waitingDeliveries: sum('waitingDeliveries'),
    incoming: byState('incoming'),
    hosts: byState('hosts'),
    liveSessions: byState('liveSessions'),
    livePieces: byState('livePieces'),
    liveSeconds: Math.max(0, sum('liveSeconds')),
  }
}
