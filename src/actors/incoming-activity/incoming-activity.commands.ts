// Activities of other servers: stored before the response, then handled one at a time per actor. The machine `incoming-activity` decides
// about retries. The row, unique by id and bytes, ensures that an activity has its effect once, however often it arrives. If an actor sends
// several activities about one object, the final one counts, whatever their order of arrival.

import { batched } from '../../platform/batched.ts'
import type { Aliased, Sql } from '../../platform/database/index.ts'
import type { IncomingActivityEvent, incomingActivityMachine } from '../../state-machines/incoming-activity.ts'
import { type ActorDeps, type Move, next, notFound, removeIdleLanes, setMoves } from '../runtime/index.ts'
import { type ArrivedActivity, INBOX_LANE, incomingActivityLifecycle, makeArrivals, STRANGERS_LANE } from './arrivals.ts'
import {
  aboutOf,
  ENDED_HASH,
  endedOf,
  FINAL_ACTIVITIES,
  type FinalActivity,
  finalActivities,
  hashOf,
  SUBJECT_HASH,
  type Subject,
} from './final-activities.ts'
import type { IncomingActivity } from './incoming-activity.entity.ts'
import { countedAs } from './totals.ts'

export interface StoredActivity extends Omit<ArrivedActivity, 'subject' | 'once'> {
  id: number
  receivedAt: Date
}

/** Result of an attempt. */
export type Treatment =
  /** Without an effect, the activity was irrelevant here and cannot be a final one. `refused`: it exceeded a limit. */
  | { result: 'handled'; hadEffect: boolean; refused?: boolean }
  /** A retry may succeed. */
  | { result: 'failed'; reason: string }
  /** No retry can succeed. */
  | { result: 'poisoned'; reason: string }

/** `believed` if only a part of the document can be trusted. */
export type Verification =
  | { result: 'verified'; saidAt: Date | null; once: boolean; believed?: { body: string; subject: Subject } }
  | { result: 'forged' | 'failed'; reason: string }

const OPEN = "('received', 'unverified', 'retrying')"
const VERIFIED = "('received', 'retrying')"
const CLEAN_UP_EVERY_MS = 3_600_000
/** Activities that a lane handles before it settles them; after a crash these are handled again, in the same order. */
const AT_ONCE = 20
const BYTES_AT_ONCE = 1_000_000
const LANES_AT_ONCE = 50
/** More than there are connections: concurrent lanes share statements, the more of them the better. */
const LANES_WORKED = 30
/** Handlers that wait for another server keep their slot for this long, and this many may wait in addition to the running ones. */
const PATIENCE = { ms: 250, atMost: 50 }

const COLUMNS = `i.id, i.activity_id as "activityId", i.type, i.actor_url as "actorUrl", i.host, i.body, i.proof, i.state,
  i.context, i.received_at as "receivedAt", i.said_at as "saidAt", i.subject_hash as "subjectHash",
  i.activity_hash as "activityHash", i.ended_hash as "endedHash"`

interface Row extends StoredActivity, Aliased<typeof IncomingActivity, 'subjectHash' | 'endedHash' | 'state' | 'context'> {
  activityHash: string
}

type LaneRow = Row & FinalActivity

type Verified = Extract<Verification, { result: 'verified' }>

/** A row with its move. */
interface Settled {
  row: Pick<Row, 'id' | 'activityId' | 'type'>
  after: Move<typeof incomingActivityMachine>
  hadEffect?: boolean
  /** How it counts, if it was handled in this attempt. */
  counts?: 'success' | 'error'
}

export type IncomingActivities = ReturnType<typeof makeIncomingActivities>

export function makeIncomingActivities(
  deps: ActorDeps & {
    /** Handles a verified activity. Must not throw. */
    treat: (activity: StoredActivity) => Promise<Treatment>
    /** Fetches the missing key, and checks the signature with it. Must not throw. */
    verify: (activity: StoredActivity) => Promise<Verification>
  },
) {
  const { db, tell, registry, clock, config, logger, treat, verify } = deps
  const settings = () => config().vireo.federation.inbox

  registry.lane(INBOX_LANE, {
    queue: 'inbox',
    concurrency: () => LANES_WORKED,
    nextDueSql: `select min(coalesce(i.due_at, i.received_at)) from incoming_activity i
      where i.actor_hash = lane.key::uuid and i.state in ${VERIFIED}`,
    patience: () => PATIENCE,
    async drain(key, { signal, isPaused, patiently }) {
      while (!signal.aborted && !isPaused()) {
        const rows = await verifiedOf(key)
        if (rows.length === 0) return null
        const settled: Settled[] = []
        const words = finalActivities(rows)
        try {
          for (const row of rows) {
            if (signal.aborted) break
            settled.push(words.overtake(row) ? overtaken(row) : await patiently(() => handle(row)))
            if (settled.at(-1)?.hadEffect) words.add(row)
          }
        } finally {
          if (settled.length > 0) await settle(settled)
        }
        // Later arrivals are found when the lane is released.
        if (rows.length < AT_ONCE) return null
      }
      return null
    },
  })

  registry.lane(STRANGERS_LANE, {
    queue: 'inbox',
    concurrency: () => settings().key_fetches_at_once,
    nextDueSql: `select min(coalesce(i.due_at, i.received_at)) from incoming_activity i
      where i.actor_hash = lane.key::uuid and i.state = 'unverified'`,
    async drain(key, { signal, isPaused }) {
      while (!signal.aborted && !isPaused()) {
        const [row] = await db.query<Row>(
          `select ${COLUMNS} from incoming_activity i
           where i.actor_hash = $1::uuid and i.state = 'unverified' and (i.due_at is null or i.due_at <= $2)
           order by i.id limit 1`,
          [key, clock.now()],
        )
        if (!row) return null
        const { event, verified } = await identify(row)
        const settled = { row, after: stepped(row, event) }
        await tell.create(async (unit) => {
          unit.wake(INBOX_LANE, key)
          const stillOpen = await unit.query("select 1 from incoming_activity where id = $1 and state = 'unverified' for no key update", [
            row.id,
          ])
          // The same bytes arrived with a valid signature meanwhile.
          if (stillOpen.length === 0) return
          if (verified?.once && (await isKnown(unit.query, row))) {
            await drop(unit.query, [row.id])
            return
          }
          if (verified) await noteVerified(unit.query, row, verified)
          await store(unit.query, [settled])
        })
      }
      return null
    },
  })

  registry.periodic('forget-incoming-activities', {
    everyMs: () => CLEAN_UP_EVERY_MS,
    async run() {
      const before = new Date(clock.now().getTime() - settings().keep_ids)
      await db.query(`delete from incoming_activity where received_at < $1 and state not in ${OPEN}`, [before])
      await removeIdleLanes(db.query)
    },
  })

  // Lanes that read at about the same time share a statement.
  const verifiedOf = batched<string, LaneRow[]>(
    async (lanes) => {
      const rows = await db.query<LaneRow & { lane: string }>(
        `select l.key as lane, i.* from unnest((select $1::uuid[])) as l (key), lateral (
           select * from (
             select ${COLUMNS}, words.*, sum(octet_length(i.body)) over (order by i.id) - octet_length(i.body) as before
             from incoming_activity i left join lateral (${FINAL_ACTIVITIES}) as words on true
             where i.actor_hash = l.key and i.state in ${VERIFIED} and (i.due_at is null or i.due_at <= $2)
             order by i.id limit ${AT_ONCE}
           ) as waiting where before < ${BYTES_AT_ONCE}
         ) as i order by i.id`,
        [[...new Set(lanes)], clock.now()],
      )
      return lanes.map((lane) => rows.filter((row) => row.lane === lane))
    },
    { max: LANES_AT_ONCE },
  )

  async function handle(row: Row): Promise<Settled> {
    const open = opened(row)
    const treatment = await treat(open)
    const after = stepped(open, eventOf(treatment))
    if (treatment.result === 'handled') {
      return { row, after, hadEffect: treatment.hadEffect, counts: treatment.refused ? 'error' : 'success' }
    }
    return { row, after, hadEffect: false, ...(after.state === 'parked' ? { counts: 'error' } : {}) }
  }

  /** A delayed Create must not follow its Delete, nor a like the dislike that replaced it. */
  function overtaken(row: Row): Settled {
    logger.debug({ activity: row.activityId }, 'an activity arrived after a later one of its actor')
    return { row, after: stepped(opened(row), { type: 'HANDLED' }), hadEffect: false, counts: 'success' }
  }

  function opened(row: Row): Row {
    if (row.state !== 'retrying') return row
    const { state, context } = stepped(row, { type: 'TIMED_OUT' })
    return { ...row, state, context }
  }

  function eventOf(treatment: Treatment): IncomingActivityEvent {
    if (treatment.result === 'handled') return { type: 'HANDLED' }
    if (treatment.result === 'poisoned') return { type: 'POISONED', reason: treatment.reason }
    return { type: 'FAILED', reason: treatment.reason, settings: settings() }
  }

  async function identify(row: Row): Promise<{ event: IncomingActivityEvent; verified?: Verified }> {
    const verification = await verify(row)
    if (verification.result === 'verified') {
      return { event: { type: 'VERIFIED' }, verified: verification }
    }
    if (verification.result === 'forged') return { event: { type: 'FORGED', reason: verification.reason } }
    return { event: { type: 'FAILED', reason: verification.reason, settings: settings() } }
  }

  const stepped = (row: Row, event: IncomingActivityEvent) => next(incomingActivityLifecycle, row, event, clock.now(), settings())

  // All of one lane at once: after a crash they are handled again together, and so in their order.
  const settle = batched<Settled[], void>(
    async (lanes) => {
      await store(db.query, lanes.flat())
      return lanes.map(() => undefined)
    },
    { max: LANES_AT_ONCE },
  )

  async function store(query: Sql, settled: Settled[]): Promise<void> {
    for (const { row, after } of settled) {
      const details = { activity: row.activityId, reason: after.context.reason }
      if (after.state === 'dropped') logger.debug(details, 'an activity was dropped')
      if (after.state === 'parked') logger.warn(details, 'an activity was parked')
    }
    // A forgery must not block the true activity with the same id.
    const dropped = settled.filter(({ after }) => after.state === 'dropped').map(({ row }) => row.id)
    if (dropped.length > 0) await drop(query, dropped)
    const kept = settled.filter(({ after }) => after.state !== 'dropped')
    if (kept.length === 0) return
    await query(
      `with settled as (
       update incoming_activity i set ${setMoves('s')},
         error = s.error, body = case when s.state = 'done' then null else i.body end,
         proof = case when s.state = 'unverified' then i.proof end,
         subject_hash = case when s.state <> 'done' or s.had_effect then i.subject_hash end,
         ended_hash = case when s.state <> 'done' or s.had_effect then i.ended_hash end
       from unnest((select $1::bigint[]), (select $2::text[]), (select $3::text[]), (select $4::timestamptz[]), (select $5::text[]), (select $6::boolean[]), (select $7::text[]), (select $8::boolean[]))
         as s (id, state, context, due_at, error, had_effect, counted_as, success)
       where i.id = s.id returning s.counted_as, s.success
       )
       insert into activity_total_delta (type, success, delta)
       select counted_as, success, count(*) from settled where counted_as is not null group by counted_as, success`,
      [
        kept.map(({ row }) => row.id),
        kept.map(({ after }) => after.state),
        kept.map(({ after }) => JSON.stringify(after.context)),
        kept.map(({ after }) => after.dueAt),
        kept.map(({ after }) => after.context.reason),
        kept.map(({ hadEffect }) => hadEffect ?? false),
        kept.map(({ row, counts }) => (counts ? countedAs(row.type) : null)),
        kept.map(({ counts }) => counts === 'success'),
      ],
    )
  }

  async function parked(query: Sql, id: number): Promise<Row> {
    const [row] = await query<Row>(`select ${COLUMNS} from incoming_activity i where i.id = $1 and i.state = 'parked' for no key update`, [
      id,
    ])
    if (!row) throw notFound('No activity is parked under this id.')
    return row
  }

  return {
    /** Handles a parked activity again. Throws `not_found` if none is parked under the id. */
    async retryParked(id: number): Promise<void> {
      await tell.create(async (unit) => {
        const row = await parked(unit.query, id)
        await store(unit.query, [{ row, after: stepped(row, { type: 'RETRIED' }) }])
        unit.wake(INBOX_LANE, hashOf(row.actorUrl))
      })
    },
    /** Drops a parked activity, which counts as handled then. Throws `not_found`. */
    async dropParked(id: number): Promise<void> {
      await tell.create(async (unit) => {
        const row = await parked(unit.query, id)
        await store(unit.query, [{ row, after: stepped(row, { type: 'GIVEN_UP' }) }])
      })
    },
    /** True if a verified activity of this id arrived before: forwarded activities count once. */
    knows(activity: Pick<ArrivedActivity, 'activityId' | 'actorUrl'>): Promise<boolean> {
      return isKnown(db.query, activity)
    },
    /** `refused`: too many activities of the host wait for their keys. */
    store: makeArrivals(deps),
  }
}

/**
 * Marks the effect of an activity, in its transaction; false if an earlier attempt had it. For effects that would add up if the process
 * dies before the activity is settled.
 */
export async function claimOnce(query: Sql, id: number): Promise<boolean> {
  const rows = await query(
    `update incoming_activity set context = context || '{"hadEffect": true}' where id = $1 and not context ? 'hadEffect'
     returning id`,
    [id],
  )
  return rows.length > 0
}

const drop = (query: Sql, ids: number[]) => query('delete from incoming_activity where id = any($1)', [ids])

/** True if an activity of the same id from a verified sender exists. */
async function isKnown(
  query: Sql,
  { id = null, activityId, actorUrl }: Pick<Row, 'activityId' | 'actorUrl'> & { id?: number | null },
): Promise<boolean> {
  const found = await query(
    `select 1 from incoming_activity where activity_hash = md5($1)::uuid and actor_hash = md5($2)::uuid
       and ($3::bigint is null or id <> $3) and state <> 'unverified' limit 1`,
    [activityId, actorUrl, id],
  )
  return found.length > 0
}

async function noteVerified(query: Sql, { id, actorUrl }: Row, { saidAt, believed }: Verified): Promise<void> {
  await query('update incoming_activity set said_at = $2 where id = $1', [id, saidAt])
  if (!believed) return
  await query(
    `update incoming_activity i set body = $2, subject_hash = ${SUBJECT_HASH}, ended_hash = ${ENDED_HASH}
     from (values ($3::text, $4::text, $5::text)) as a (actor_url, subject, ended) where i.id = $1`,
    [id, believed.body, actorUrl, aboutOf(believed), endedOf(believed)],
  )
}
