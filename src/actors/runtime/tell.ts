// tell(): the one way to change an aggregate. Locks its row, runs the handler, stores state and outbox rows together.

import { notFound } from './domain-error.ts'
import type { AggregateRef } from './events.ts'
import type { RunUnit, Unit } from './unit.ts'

export interface Tell {
  /**
   * Sends a message to an aggregate. Its row is locked during the transaction, so that its messages are handled one at a time, by however
   * many processes. Throws DomainError `not_found` if the row does not exist.
   */
  <T>(to: AggregateRef, handler: (unit: Unit) => Promise<T>): Promise<T>
  /** A message that creates its aggregate: there is nothing to lock; a unique index decides between concurrent ones. */
  create<T>(handler: (unit: Unit) => Promise<T>): Promise<T>
}

/** Locked instead of the row in the table with the aggregate's name. */
const LOCKED: Partial<Record<AggregateRef['aggregate'], string>> = {
  user: 'users where id = $1',
  // Only one of several offers of a video can be accepted: the mailbox is that of the video.
  ownership_change: 'video where id = (select video_id from ownership_change where id = $1)',
  runner_job: 'job where id = $1',
  // A session moves its video.
  live_session: 'video where id = (select video_id from live_session where id = $1)',
}

/** `FOR NO KEY UPDATE`, so that inserting children with a foreign key to the row is never blocked. */
const lockOf = (aggregate: AggregateRef['aggregate']): string =>
  `select id from ${LOCKED[aggregate] ?? `${aggregate} where id = $1`} for no key update`

export function makeTell(runUnit: RunUnit): Tell {
  const tell = async <T>(to: AggregateRef, handler: (unit: Unit) => Promise<T>): Promise<T> =>
    await runUnit(async (unit) => {
      const rows = await unit.query(lockOf(to.aggregate), [to.id])
      if (rows.length === 0) throw notFound(`This ${to.aggregate.replace('_', ' ')} does not exist.`)
      await unit.changing(to)
      return await handler(unit)
    })
  return Object.assign(tell, { create: runUnit })
}
