// The lease that a worker holds on the row that it works on, beside the one on its job: claimed by a command, kept alive by a
// beat, and let go at the end. The row has `lease_owner`, and the time at which its worker counts as lost.

import type { Clock } from '../../platform/clock.ts'
import type { Database } from '../../platform/database/index.ts'
import { randomToken } from '../../platform/ids.ts'
import type { Logger } from '../../platform/logger.ts'
import { type Beat, startBeat } from './beat.ts'
import { DomainError } from './domain-error.ts'
import { insist } from './insist.ts'

/** A row in the hands of a worker; `owner` is a name for one claim alone. */
export interface Held {
  id: number
  owner: string
}

/** What the row says of its worker. */
export interface Holder {
  owner: string | null | undefined
  until: Date | null | undefined
}

/** A locked row of a machine that says with its state whether somebody is to work on it. */
export interface Claimable {
  state: string
  leaseOwner?: string | null | undefined
  dueAt?: Date | null | undefined
}

export interface RowLeases {
  newOwner(): string
  /**
   * Gives the row to a new worker, whose name it answers; undefined when there is nothing to do, or a worker that may be alive is at it.
   * `move` sends the row's machine from `waiting` to `working` by `STARTED`, and by `TIMED_OUT` back when the worker before was lost.
   */
  claim(options: {
    row: Claimable
    waiting: string
    working: string
    move: (type: 'STARTED' | 'TIMED_OUT') => Promise<void> | void
  }): Promise<string | undefined>
  /** Whether a worker that may be alive has the row. */
  isHeld(holder: Holder): boolean
  /** For whoever tells of a failure that is not that of the row's worker. Throws `busy` while there is one. */
  refuseHeld(holder: Holder): void
  /** When a worker that claims the row now counts as lost, should nothing more be heard of it. */
  end(): Date
  /** Renews the lease; the signal says that the row is another worker's, or not wanted any more. */
  startBeat(held: Held): Beat
  isOurs(held: Held): Promise<boolean>
  /** Takes the name off, if it is there still. Never throws: a lease ends by itself. */
  release(held: Held): Promise<void>
}

export const holderOf = ({ leaseOwner, dueAt }: Pick<Claimable, 'leaseOwner' | 'dueAt'>): Holder => ({
  owner: leaseOwner,
  until: dueAt,
})

export function makeRowLeases(options: {
  db: Database
  clock: Clock
  logger: Logger
  leases: { owner: string; isGone(owner: string): boolean }
  /** In ms. */
  length: () => number
  /** How often the worker looks whether the row is still its own and wanted, and shows that it lives, in ms at most. */
  beatEvery: number
  table: 'redundancy' | 'transcoding' | 'user_export' | 'user_import' | 'video_edition' | 'video_import'
  /** The column that says until when. */
  until: 'due_at' | 'lease_until'
  /** SQL condition on the row `x`: there is something to do. */
  active: string
  /** Another one: it is wanted still. */
  wanted?: string
}): RowLeases {
  const { db, clock, logger, leases, length, beatEvery, table, until, active, wanted = 'true' } = options
  const end = (): Date => new Date(clock.now().getTime() + length())
  const isHeld = ({ owner, until: at }: Holder): boolean => Boolean(owner && at && at > clock.now() && !leases.isGone(owner))

  const newOwner = (): string => `${leases.owner}#${randomToken(4)}`

  return {
    newOwner,
    async claim({ row, waiting, working, move }) {
      if (row.state === working && row.leaseOwner) {
        if (isHeld(holderOf(row))) return undefined
        // A worker that ended with a goodbye took its name off; one that died did not.
        await move('TIMED_OUT')
      }
      if (row.state === waiting) await move('STARTED')
      if (row.state !== working) return undefined
      row.leaseOwner = newOwner()
      row.dueAt = end()
      return row.leaseOwner
    },
    isHeld,
    refuseHeld(holder) {
      if (isHeld(holder)) throw new DomainError('busy', 'A worker is at this.')
    },
    end,
    startBeat: ({ id, owner }) =>
      startBeat({
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
      }),
    isOurs: async ({ id, owner }) =>
      (await db.query(`select 1 from ${table} x where x.id = $1 and x.lease_owner = $2 and ${active}`, [id, owner])).length > 0,
    async release({ id, owner }) {
      const text = `update ${table} set lease_owner = null where id = $1 and lease_owner = $2`
      await insist(() => db.query(text, [id, owner])).catch((error) =>
        logger.warn({ err: error, table, id }, 'the lease of a row could not be released'),
      )
    },
  }
}
