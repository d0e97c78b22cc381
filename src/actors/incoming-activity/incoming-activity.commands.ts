// Activities that other servers sent: stored before they are answered, then handled one at a time for each actor.
// The machine `incoming-activity` decides about tries; the row, unique by id and bytes, sees to one effect of what was
// sent, however often it comes.

import { createHash } from 'node:crypto'
import { z } from 'zod'
import {
  dueIn,
  type IncomingActivityContext,
  type IncomingActivityEvent,
  type IncomingActivityState,
  incomingActivityMachine,
  initialIncomingActivity,
} from '../../state-machines/incoming-activity.ts'
import { step } from '../../state-machines/step.ts'
import type { ActorDeps } from '../runtime/index.ts'

export interface ArrivedActivity {
  activityId: string
  type: string
  actorUrl: string
  /** Of the actor's id. */
  host: string
  /** The document as it came. */
  body: string
  /** What is needed to check the signature later; null when it was checked with a known key. */
  proof: Record<string, unknown> | null
}

export interface StoredActivity extends ArrivedActivity {
  id: number
  receivedAt: Date
}

/** What became of a try. */
export type Treatment =
  /** `ended`: the id of a thing that its maker took back. What the maker said of it before must have no late effect. */
  | { result: 'handled'; ended?: string }
  /** Worth another try. */
  | { result: 'failed'; reason: string }
  /** No try will help. */
  | { result: 'poisoned'; reason: string }

/** `body` when only a part of what came may be believed. */
export type Verification = { result: 'verified'; body?: string } | { result: 'forged' | 'failed'; reason: string }

export interface IncomingActivities {
  /** `refused`: too many activities of the host wait for their keys. */
  store(activity: ArrivedActivity): Promise<'stored' | 'duplicate' | 'refused'>
}

const INBOX_LANE = 'inbox'
const mentioned = z.object({ object: z.union([z.string(), z.looseObject({ id: z.string() }), z.null()]) })
const OPEN = "('received', 'unverified', 'retrying')"
const CLEAN_UP_EVERY_MS = 3_600_000

interface Row extends StoredActivity {
  state: IncomingActivityState
  context: IncomingActivityContext
}

export function makeIncomingActivities(
  deps: ActorDeps & {
    /** Handles a verified activity. Must not throw. */
    treat: (activity: StoredActivity) => Promise<Treatment>
    /** Fetches the key that was missing, and checks the signature with it. Must not throw. */
    verify: (activity: StoredActivity) => Promise<Verification>
  },
): IncomingActivities {
  const { db, tell, registry, clock, config, logger, treat, verify } = deps
  const settings = () => config().vireo.federation.inbox

  registry.lane(INBOX_LANE, {
    queue: 'inbox',
    nextDueSql: `select min(coalesce(i.due_at, i.received_at)) from incoming_activity i
      where i.actor_hash = lane.key::uuid and i.state in ${OPEN}`,
    async drain(key, { signal }) {
      while (!signal.aborted) {
        const row = await next(key)
        if (!row) return null
        await settle(row, await eventFor(row, key))
      }
      return null
    },
  })

  registry.periodic('forget-incoming-activities', {
    everyMs: () => CLEAN_UP_EVERY_MS,
    async run() {
      const before = new Date(clock.now().getTime() - settings().keep_ids)
      await db.query(`delete from incoming_activity where received_at < $1 and state not in ${OPEN}`, [before])
      await db.query('delete from lane where due_at is null and lease_until is null and not dirty')
    },
  })

  async function next(key: string): Promise<Row | undefined> {
    const [row] = await db.query<Row>(
      `select id, activity_id as "activityId", type, actor_url as "actorUrl", host, body, proof, state, context,
         received_at as "receivedAt"
       from incoming_activity
       where actor_hash = $1::uuid and state in ${OPEN} and (due_at is null or due_at <= $2) order by id limit 1`,
      [key, clock.now()],
    )
    return row
  }

  async function eventFor(row: Row, lane: string): Promise<IncomingActivityEvent> {
    if (row.state === 'unverified') {
      const verification = await verify(row)
      if (verification.result === 'verified') {
        if (verification.body !== undefined) await replaceBody(row.id, verification.body)
        return { type: 'VERIFIED' }
      }
      if (verification.result === 'forged') return { type: 'FORGED', reason: verification.reason }
      return { type: 'FAILED', reason: verification.reason, settings: settings() }
    }
    if (row.state === 'retrying') return { type: 'TIMED_OUT' }
    const treatment = await treat(row)
    if (treatment.result === 'handled') {
      if (treatment.ended !== undefined) await endOvertaken(row, lane, treatment.ended)
      return { type: 'HANDLED' }
    }
    if (treatment.result === 'poisoned') return { type: 'POISONED', reason: treatment.reason }
    return { type: 'FAILED', reason: treatment.reason, settings: settings() }
  }

  /**
   * Earlier activities of the actor that wait for another try and are `ended`, or about it, are over: a Create that failed
   * must not follow its Delete.
   */
  async function endOvertaken({ id }: Row, lane: string, ended: string): Promise<void> {
    const overtaken = await db.query<Row>(
      `select id, activity_id as "activityId", state, context, body from incoming_activity
       where actor_hash = $1::uuid and state in ('retrying', 'unverified') and id < $2 and position($3 in body) > 0`,
      [lane, id, JSON.stringify(ended)],
    )
    for (const row of overtaken) {
      if (!isAbout(row, ended)) continue
      const isVerified = row.state === 'retrying'
      await settle(row, isVerified ? { type: 'HANDLED' } : { type: 'FORGED', reason: 'taken back meanwhile' })
    }
  }

  /** The address may also stand in what only speaks of the thing, such as a reply to it. */
  function isAbout({ activityId, body }: Row, ended: string): boolean {
    if (activityId === ended) return true
    const { object } = mentioned.catch({ object: null }).parse(JSON.parse(body))
    return object === ended || (typeof object === 'object' && object?.id === ended)
  }

  async function replaceBody(id: number, body: string): Promise<void> {
    await db.query('update incoming_activity set body = $2 where id = $1', [id, body])
  }

  async function settle(row: Row, event: IncomingActivityEvent): Promise<void> {
    const after = step(incomingActivityMachine, { state: row.state, context: row.context }, event)
    const wait = dueIn(after.state, after.context, settings())
    if (after.state === 'dropped') {
      // A forgery must not stand in the way of the true activity with the same id.
      logger.debug({ activity: row.activityId, reason: after.context.reason }, 'an activity was dropped')
      await db.query('delete from incoming_activity where id = $1', [row.id])
      return
    }
    const isOver = after.state === 'done'
    if (after.state === 'parked')
      logger.warn({ activity: row.activityId, reason: after.context.reason }, 'an activity was parked')
    await db.query(
      `update incoming_activity set state = $2, context = $3, due_at = $4, error = $5,
         body = case when $6 then null else body end, proof = case when $2 = 'unverified' then proof end
       where id = $1`,
      [
        row.id,
        after.state,
        JSON.stringify(after.context),
        wait === null ? null : new Date(clock.now().getTime() + wait),
        after.context.reason,
        isOver,
      ],
    )
  }

  return {
    async store(activity) {
      const { state, context } = initialIncomingActivity(activity.proof === null)
      return await tell.create(async (unit) => {
        const [row] = await unit.query<{ id: number }>(
          // A verified activity takes the place of an unverified one of the same bytes.
          `insert into incoming_activity (activity_id, type, actor_url, host, body, body_hash, proof, state, context, received_at)
           select $1, $2, $3, $4, $5, md5($5)::uuid, $6, $7, $8, $9
           where $7 <> 'unverified'
             or (select count(*) from incoming_activity where host = $4 and state = 'unverified') < $10
           on conflict (activity_hash, actor_hash, body_hash) do update set proof = null,
             state = excluded.state, context = excluded.context, due_at = null
             where incoming_activity.state = 'unverified' and excluded.state <> 'unverified'
           returning id`,
          [
            activity.activityId,
            activity.type,
            activity.actorUrl,
            activity.host,
            activity.body,
            activity.proof === null ? null : JSON.stringify(activity.proof),
            state,
            JSON.stringify(context),
            unit.now,
            settings().unverified_per_host,
          ],
        )
        if (row) {
          unit.wake(INBOX_LANE, laneKey(activity.actorUrl))
          return 'stored'
        }
        const [known] = await unit.query(
          `select 1 from incoming_activity
           where activity_hash = md5($1)::uuid and actor_hash = md5($2)::uuid and body_hash = md5($3)::uuid`,
          [activity.activityId, activity.actorUrl, activity.body],
        )
        return known ? 'duplicate' : 'refused'
      })
    },
  }
}

/** The lane of an actor: the same hash as in the column `actor_hash`. */
function laneKey(actorUrl: string): string {
  const hex = createHash('md5').update(actorUrl).digest('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
