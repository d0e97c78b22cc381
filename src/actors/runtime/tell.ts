// tell(): the one way to change an aggregate. Locks its row, runs the handler, stores state and outbox rows together.

import { notFound } from './domain-error.ts'
import type { AggregateRef } from './events.ts'
import type { RunUnit, Unit } from './unit.ts'

export interface Tell {
  /**
   * Sends a message to an aggregate: its row is locked for the time of the transaction, so that messages to it are
   * handled one at a time, on however many processes. Throws DomainError `not_found` when the row does not exist.
   */
  <T>(to: AggregateRef, handler: (unit: Unit) => Promise<T>): Promise<T>
  /** A message that creates its aggregate: nothing to lock yet, a unique index decides between two. */
  create<T>(handler: (unit: Unit) => Promise<T>): Promise<T>
}

// `FOR NO KEY UPDATE`, so that inserting children with a foreign key to the row is never blocked.
const LOCKS: Record<AggregateRef['aggregate'], string> = {
  follow: 'select id from follow where id = $1 for no key update',
  history_walk: 'select id from history_walk where id = $1 for no key update',
  video: 'select id from video where id = $1 for no key update',
  upload: 'select id from upload where id = $1 for no key update',
  comment: 'select id from comment where id = $1 for no key update',
  playlist: 'select id from playlist where id = $1 for no key update',
  rating: 'select id from rating where id = $1 for no key update',
  transcoding: 'select id from transcoding where id = $1 for no key update',
  actor: 'select id from actor where id = $1 for no key update',
  user: 'select id from users where id = $1 for no key update',
  registration: 'select id from registration where id = $1 for no key update',
  incoming_activity: 'select id from incoming_activity where id = $1 for no key update',
  two_factor: 'select id from two_factor where id = $1 for no key update',
  abuse: 'select id from abuse where id = $1 for no key update',
  account_block: 'select id from account_block where id = $1 for no key update',
  server_block: 'select id from server_block where id = $1 for no key update',
  redundancy: 'select id from redundancy where id = $1 for no key update',
  redundancy_strategy: 'select id from redundancy_strategy where id = $1 for no key update',
  remote_host: 'select id from remote_host where id = $1 for no key update',
  // Of several offers of a video, one only is taken: the mailbox is that of the video.
  ownership_change:
    'select id from video where id = (select video_id from ownership_change where id = $1) for no key update',
  video_import: 'select id from video_import where id = $1 for no key update',
  user_import: 'select id from user_import where id = $1 for no key update',
  channel_sync: 'select id from channel_sync where id = $1 for no key update',
  runtime_config: 'select id from runtime_config where id = $1 for no key update',
  job_queue: 'select id from job_queue where id = $1 for no key update',
}

export function makeTell(runUnit: RunUnit): Tell {
  const tell = async <T>(to: AggregateRef, handler: (unit: Unit) => Promise<T>): Promise<T> =>
    await runUnit(async (unit) => {
      const rows = await unit.query(LOCKS[to.aggregate], [to.id])
      if (rows.length === 0) throw notFound(`This ${to.aggregate.replace('_', ' ')} does not exist.`)
      await unit.changing(to)
      return await handler(unit)
    })
  return Object.assign(tell, { create: runUnit })
}
