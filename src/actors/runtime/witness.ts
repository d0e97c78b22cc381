// Who looks at what units of work change, for the audit log.

import type { Sql } from '../../platform/database/index.ts'
import type { AggregateRef } from './events.ts'

export interface Witnesses {
  /** Of a unit of work that begins; undefined when nobody needs to know. */
  witness(query: Sql): Witness | undefined
  /** Runs what follows from a commit, but is not part of the command. */
  apart<T>(work: () => T): T
}

/** What was done and shows in no row that is looked at: it goes into the log as it is, so nothing secret may be in it. */
export interface Noted {
  domain: 'users' | 'follows' | 'videos' | 'comments' | 'blocklist' | 'watched-words' | 'config'
  action: 'create' | 'update' | 'delete'
  id: number
  entity: Record<string, string | number | boolean>
}

export interface Witness {
  /** Looks at an aggregate before it is changed. */
  changing(of: AggregateRef): Promise<void>
  created(of: AggregateRef): void
  note(done: Noted): void
  /** Stores what is different now. */
  store(): Promise<void>
}
