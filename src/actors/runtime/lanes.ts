// Lanes: work that must run one at a time (a host's deliveries, an actor's inbound activities). A hint claims the
// lane's lease with one UPDATE, or marks the lane dirty and ends; the release re-checks both, so no wake-up is lost.

import type { Clock } from '../../platform/clock.ts'
import type { Database } from '../../platform/database/index.ts'
import { randomToken } from '../../platform/ids.ts'
import type { Logger } from '../../platform/logger.ts'
import { LeaseLost, underLease } from './lease.ts'
import type { LaneHandler, Registry } from './registry.ts'

export interface Lanes {
  /** Drains the lane, unless somebody is at it: then they look again. */
  work(kind: string, key: string): Promise<void>
  /** Lanes that are due and nobody's. */
  due(limit: number): Promise<{ kind: string; key: string }[]>
  stop(graceMs: number): Promise<void>
}

const RETRY_AFTER_ERROR_MS = 10_000

interface Claim {
  kind: string
  key: string
  owner: string
}

/** `taken`: somebody else is at it, or there is no such lane. */
type Outcome = 'taken' | 'done' | 'again'

export function makeLanes(options: {
  db: Database
  registry: Registry
  clock: Clock
  logger: Logger
  owner: string
  leaseMs: () => number
}): Lanes {
  const { db, registry, clock, logger, owner } = options
  const inFlight = new Set<Promise<Outcome>>()
  const ending = new AbortController()
  let stopped = false

  async function work(kind: string, key: string): Promise<void> {
    const handler = registry.lanes.get(kind)
    if (!handler) return
    while (!stopped) {
      // The claim counts as work in hand too, so that the end of the process waits for it.
      const run = claimAndDrain(handler, kind, key)
      inFlight.add(run)
      const outcome = await run.finally(() => inFlight.delete(run))
      if (outcome === 'taken' && !(await markDirty(kind, key))) continue // released between the two statements
      if (outcome !== 'again') return
    }
  }

  async function claimAndDrain(handler: LaneHandler, kind: string, key: string): Promise<Outcome> {
    // A name for this claim alone: a second claim by the same process must not pass for this one.
    const claim: Claim = { kind, key, owner: `${owner}#${randomToken(4)}` }
    if (!(await take(claim))) return 'taken'
    return (await drain(handler, claim)) ? 'again' : 'done'
  }

  async function take({ kind, key, owner: claimOwner }: Claim): Promise<boolean> {
    const rows = await db.query(
      `update lane set lease_owner = $3, lease_until = now() + $4 * interval '1 ms', dirty = false
       where kind = $1 and key = $2 and (lease_until is null or lease_until < now()) returning key`,
      [kind, key, claimOwner, options.leaseMs()],
    )
    return rows.length > 0
  }

  /** False when the lane is free again. True also when there is no such lane: then there is nothing to do. */
  async function markDirty(kind: string, key: string): Promise<boolean> {
    const [row] = await db.query<{ leased: boolean }>(
      `with mark as (
         update lane set dirty = true where kind = $1 and key = $2 and lease_until >= now() returning key
       ) select exists (select 1 from mark) or not exists (select 1 from lane where kind = $1 and key = $2) as leased`,
      [kind, key],
    )
    return row?.leased ?? true
  }

  /** Answers whether there is more to do at once. */
  async function drain(handler: LaneHandler, claim: Claim): Promise<boolean> {
    let retryAt: Date | null = null
    try {
      await underLease({
        leaseMs: options.leaseMs(),
        renew: () => renew(claim),
        signals: [ending.signal],
        work: (signal) => handler.drain(claim.key, { signal }),
      })
    } catch (error) {
      if (error instanceof LeaseLost) return false
      if (!ending.signal.aborted) {
        logger.error({ err: error, lane: claim.kind, key: claim.key }, 'a lane failed')
        retryAt = new Date(clock.now().getTime() + RETRY_AFTER_ERROR_MS)
      }
    }
    return await release(handler, claim, retryAt)
  }

  async function renew({ kind, key, owner: claimOwner }: Claim): Promise<boolean> {
    const rows = await db.query(
      `update lane set lease_until = now() + $4 * interval '1 ms' where kind = $1 and key = $2 and lease_owner = $3 returning key`,
      [kind, key, claimOwner, options.leaseMs()],
    )
    return rows.length > 0
  }

  async function release(handler: LaneHandler, claim: Claim, retryAt: Date | null): Promise<boolean> {
    const now = clock.now()
    const [row] = await db.query<{ due_at: Date | null }>(
      `update lane set lease_owner = null, lease_until = null, dirty = false,
         due_at = case when $5::timestamptz is not null then $5 when dirty then $4 else (${handler.nextDueSql}) end
       where kind = $1 and key = $2 and lease_owner = $3 returning due_at`,
      [claim.kind, claim.key, claim.owner, now, retryAt],
    )
    return row?.due_at != null && row.due_at <= now
  }

  return {
    work,
    async due(limit) {
      return await db.query<{ kind: string; key: string }>(
        'select kind, key from lane where due_at <= $1 and (lease_until is null or lease_until < now()) order by due_at limit $2',
        [clock.now(), limit],
      )
    },
    async stop(graceMs) {
      stopped = true
      const done = Promise.allSettled([...inFlight])
      const timer = setTimeout(() => ending.abort(new Error('The process is ending.')), graceMs)
      await done
      clearTimeout(timer)
    },
  }
}
