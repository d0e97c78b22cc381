// Lanes: work that must run one at a time (a host's deliveries, an actor's inbound activities). A hint claims the
// lane's lease with one UPDATE, or marks the lane dirty and ends; the release re-checks both, so no wake-up is lost.

import { setTimeout as wait } from 'node:timers/promises'
import { batched } from '../../platform/batched.ts'
import type { Clock } from '../../platform/clock.ts'
import { type Columns, type Database, isDatabaseOutage, type Sql } from '../../platform/database/index.ts'
import { randomToken } from '../../platform/ids.ts'
import type { Logger } from '../../platform/logger.ts'
import type { Slot } from './dispatcher.ts'
import { LeaseLost, underLease } from './lease.ts'
import { NOT_PAUSED, type Pause } from './pause.ts'
import type { LaneHandler, Registry } from './registry.ts'
import { retryThroughOutage } from './retry-through-outage.ts'
import type { Lane } from './runtime.entity.ts'

const CLAIMS_AT_ONCE = 200
const CLAIMS = 'unnest((select $1::text[]), (select $2::text[]), (select $3::text[])) as c (kind, key, owner)'
const OWN_PLACE: Slot = { patiently: (work) => work() }
const RETRY_AFTER_ERROR_MS = 10_000
/** No lane starts without the database. */
const RETRY_AFTER_OUTAGE_MS = 1_000
const TAKEN_AGAIN_MS = 5

interface Claim {
  kind: string
  key: string
  owner: string
}

interface Release extends Claim {
  retryAt: Date | null
}

/** `taken`: another process has the lease, or the lane does not exist. */
type Outcome = 'taken' | 'done' | 'again'

export type Lanes = ReturnType<typeof makeLanes>

export function makeLanes(options: {
  db: Database
  registry: Registry
  clock: Clock
  logger: Logger
  owner: string
  leaseMs: () => number
  pause: Pick<Pause, 'isPaused' | 'look'>
}) {
  const { db, registry, clock, logger, owner } = options
  const { isPaused, look } = options.pause
  const inFlight = new Set<Promise<Outcome>>()
  const ending = new AbortController()
  let stopped = false

  /** Drains the lane. If another process is draining it, that one looks again. */
  async function work(kind: string, key: string, slot: Slot = OWN_PLACE): Promise<void> {
    const handler = registry.lanes.get(kind)
    if (!handler) return
    while (!stopped && !isPaused()) {
      // The claim counts as running work too, so that the stop of the process waits for it.
      const run = claimAndDrain(handler, { kind, key, slot })
      inFlight.add(run)
      const outcome = await run.finally(() => inFlight.delete(run))
      if (outcome === 'taken' && !(await markDirty(kind, key))) {
        // Paused, released between the two statements, or locked by a transaction that is about to end.
        await look()
        await wait(TAKEN_AGAIN_MS)
        continue
      }
      if (outcome !== 'again') return
    }
  }

  async function claimAndDrain(handler: LaneHandler, { kind, key, slot }: { kind: string; key: string; slot: Slot }): Promise<Outcome> {
    // A name for this claim alone: a second claim by the same process must have another one.
    const claim: Claim = { kind, key, owner: `${owner}#${randomToken(4)}` }
    if (!(await take(claim))) return 'taken'
    return (await drain(handler, claim, slot)) ? 'again' : 'done'
  }

  // Lanes that are claimed, renewed or released at about the same time share a statement.
  const take = batched<Claim, boolean>(
    async (claims) => {
      const rows = await db.query<{ owner: string }>(
        `with free as (
           select l.kind, l.key, c.owner from ${CLAIMS} join lane l on l.kind = c.kind and l.key = c.key
           where (l.lease_until is null or l.lease_until < now()) and ${NOT_PAUSED}
           order by l.kind, l.key for no key update of l skip locked
         )
         update lane set lease_owner = free.owner, lease_until = now() + $4 * interval '1 ms', dirty = false
         from free where lane.kind = free.kind and lane.key = free.key returning lane.lease_owner as owner`,
        [...columnsOf(claims), options.leaseMs()],
      )
      return amongThem(claims, rows)
    },
    { max: CLAIMS_AT_ONCE },
  )

  /** False if the lane is free again. True also if the lane does not exist: then there is nothing to do. */
  async function markDirty(kind: string, key: string): Promise<boolean> {
    const [row] = await db.query<{ leased: boolean }>(
      `with mark as (
         update lane set dirty = true where kind = $1 and key = $2 and lease_until >= now() returning key
       ) select exists (select 1 from mark) or not exists (select 1 from lane where kind = $1 and key = $2) as leased`,
      [kind, key],
    )
    return row?.leased ?? true
  }

  /** Returns true if the lane is due again at once. */
  async function drain(handler: LaneHandler, claim: Claim, slot: Slot): Promise<boolean> {
    let retryAt: Date | null = null
    try {
      await underLease({
        leaseMs: options.leaseMs(),
        renew: () => renew(claim),
        signals: [ending.signal],
        work: (signal) => handler.drain(claim.key, { signal, isPaused, ...slot }),
      })
    } catch (error) {
      if (error instanceof LeaseLost) return false
      if (!ending.signal.aborted) {
        logger.error({ err: error, lane: claim.kind, key: claim.key }, 'a lane failed')
        const wait = isDatabaseOutage(error) ? RETRY_AFTER_OUTAGE_MS : RETRY_AFTER_ERROR_MS
        retryAt = new Date(clock.now().getTime() + wait)
      }
    }
    return await release(handler, claim, retryAt)
  }

  const renew = batched<Claim, boolean>(
    async (claims) => {
      const rows = await db.query<{ owner: string }>(
        `update lane set lease_until = now() + $4 * interval '1 ms' from ${CLAIMS}
         where lane.kind = c.kind and lane.key = c.key and lane.lease_owner = c.owner returning lane.lease_owner as owner`,
        [...columnsOf(claims), options.leaseMs()],
      )
      return amongThem(claims, rows)
    },
    { max: CLAIMS_AT_ONCE },
  )

  const releases = new Map<string, (release: Release) => Promise<boolean>>()

  /** Returns true if the lane is due again at once. */
  async function release(handler: LaneHandler, claim: Claim, retryAt: Date | null): Promise<boolean> {
    const known = releases.get(claim.kind) ?? batched(releaseAll(handler.nextDueSql), { max: CLAIMS_AT_ONCE })
    releases.set(claim.kind, known)
    return await retryThroughOutage(() => known({ ...claim, retryAt }))
  }

  const releaseAll = (nextDueSql: string) => async (claims: Release[]) => {
    const now = clock.now()
    const rows = await db.query<Columns<typeof Lane, 'key' | 'dueAt'>>(
      `update lane set lease_owner = null, lease_until = null, dirty = false,
         due_at = case when c.retry_at is not null then c.retry_at when dirty then $5 else (${nextDueSql}) end
       from unnest((select $1::text[]), (select $2::text[]), (select $3::text[]), (select $4::timestamptz[])) as c (kind, key, owner, retry_at)
       where lane.kind = c.kind and lane.key = c.key and lane.lease_owner = c.owner returning lane.key, lane.due_at`,
      [...columnsOf(claims), claims.map(({ retryAt }) => retryAt), now],
    )
    const due = new Map(rows.map((row) => [row.key, row.due_at]))
    return claims.map(({ key }) => {
      const at = due.get(key)
      return at != null && at <= now
    })
  }

  return {
    work,
    /** Lanes that are due and not leased. */
    async due(limit: number): Promise<{ kind: string; key: string }[]> {
      return await db.query<Columns<typeof Lane, 'kind' | 'key'>>(
        'select kind, key from lane where due_at <= $1 and (lease_until is null or lease_until < now()) order by due_at limit $2',
        [clock.now(), limit],
      )
    },
    async stop(graceMs: number): Promise<void> {
      stopped = true
      const done = Promise.allSettled([...inFlight])
      const timer = setTimeout(() => ending.abort(new Error('The process is ending.')), graceMs)
      await done
      clearTimeout(timer)
    },
  }
}

const columnsOf = (claims: Claim[]): string[][] => [
  claims.map(({ kind }) => kind),
  claims.map(({ key }) => key),
  claims.map(({ owner }) => owner),
]

/** Whether the database has each of the claims under its name. */
function amongThem(claims: Claim[], rows: { owner: string }[]): boolean[] {
  const owners = new Set(rows.map(({ owner }) => owner))
  return claims.map(({ owner }) => owners.has(owner))
}

/** Removes lanes without work and without a worker. */
export const removeIdleLanes = (query: Sql) => query('delete from lane where due_at is null and lease_until is null and not dirty')
