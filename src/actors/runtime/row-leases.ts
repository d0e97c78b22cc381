// The lease that a worker holds on its row, in addition to the lease of its job: claimed by a command, renewed by a heartbeat, and released
// at the end. The row has `lease_owner`, and the time at which the lease expires.

import type { Clock } from '../../platform/clock.ts'
import type { Database } from '../../platform/database/index.ts'
import { randomToken } from '../../platform/ids.ts'
import type { Logger } from '../../platform/logger.ts'
import { DomainError } from './domain-error.ts'
import { type Heartbeat, startHeartbeat } from './heartbeat.ts'
import { retryThroughOutage } from './retry-through-outage.ts'

/** A leased row; `owner` is unique to one claim. */
export interface LeasedRow {
  id: number
  owner: string
}

/** The lease columns of the row. */
export interface Holder {
  owner: string | null | undefined
  until: Date | null | undefined
}

/** A locked row whose state tells whether somebody should work on it. */
export interface Claimable {
  state: string
  leaseOwner?: string | null | undefined
  dueAt?: Date | null | undefined
}

export const holderOf = ({ leaseOwner, dueAt }: Pick<Claimable, 'leaseOwner' | 'dueAt'>): Holder => ({
  owner: leaseOwner,
  until: dueAt,
})

export type RowLeases = ReturnType<typeof makeRowLeases>

export function makeRowLeases(options: {
  db: Database
  clock: Clock
  logger: Logger
  leases: { owner: string; isGone(owner: string): boolean }
  /** In ms. */
  length: () => number
  /** How often at most the worker renews its lease and checks that the row is still wanted, in ms. */
  beatEvery: number
  table: 'redundancy' | 'transcoding' | 'user_export' | 'user_import' | 'video_edition' | 'video_import'
  /** The column with the expiry. */
  until: 'due_at' | 'lease_until'
  /** SQL condition on the row `x`: there is something to do. */
  active: string
  /** Another condition: the result is still wanted. */
  wanted?: string
}) {
  const { db, clock, logger, leases, length, beatEvery, table, until, active, wanted = 'true' } = options
  /** Expiry of a lease that is claimed now. */
  const end = (): Date => new Date(clock.now().getTime() + length())
  /** True if a worker that may be alive has the row. */
  const isLeased = ({ owner, until: at }: Holder): boolean => Boolean(owner && at && at > clock.now() && !leases.isGone(owner))

  const newOwner = (): string => `${leases.owner}#${randomToken(4)}`

  return {
    newOwner,
    /**
     * Leases the row to a new worker, and returns its name; undefined if there is nothing to do, or if a worker that may be alive has the
     * lease. `move` sends the row's machine from `waiting` to `working` by `STARTED`, and back by `TIMED_OUT` if the previous worker was
     * lost.
     */
    async claim(options: {
      row: Claimable
      waiting: string
      working: string
      move: (type: 'STARTED' | 'TIMED_OUT') => Promise<void> | void
    }): Promise<string | undefined> {
      const { row, waiting, working, move } = options
      if (row.state === working && row.leaseOwner) {
        if (isLeased(holderOf(row))) return undefined
        // A worker that stops regularly releases the lease; one that died does not.
        await move('TIMED_OUT')
      }
      if (row.state === waiting) await move('STARTED')
      if (row.state !== working) return undefined
      row.leaseOwner = newOwner()
      row.dueAt = end()
      return row.leaseOwner
    },
    isLeased,
    /** For reporters of a failure that do not hold the lease. Throws `busy` while a worker does. */
    refuseLeased(holder: Holder): void {
      if (isLeased(holder)) throw new DomainError('busy', 'Another worker has the lease.')
    },
    end,
    /** Renews the lease; the signal aborts when the lease is lost or the row is no longer wanted. */
    startHeartbeat({ id, owner }: LeasedRow): Heartbeat {
      return startHeartbeat({
        everyMs: Math.min(beatEvery, length() / 3),
        lost: 'What is worked on is not wanted any more, or another worker has it.',
        async renew() {
          const rows = await db.query(
            `update ${table} x set ${until} = $3 where x.id = $1 and x.lease_owner = $2 and ${active} and ${wanted}
             returning x.id`,
            [id, owner, end()],
          )
          return rows.length > 0
        },
      })
    },
    async holds({ id, owner }: LeasedRow): Promise<boolean> {
      return (await db.query(`select 1 from ${table} x where x.id = $1 and x.lease_owner = $2 and ${active}`, [id, owner])).length > 0
    },
    /** Releases the lease, if it still holds it. Never throws: a lease expires by itself. */
    async release({ id, owner }: LeasedRow): Promise<void> {
      const text = `update ${table} set lease_owner = null where id = $1 and lease_owner = $2`
      await retryThroughOutage(() => db.query(text, [id, owner])).catch((error) =>
        logger.warn({ err: error, table, id }, 'the lease of a row could not be released'),
      )
    },
  }
}

/** The lease is lost, or the work is not wanted any more: what remains of it must not count. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost'
}
