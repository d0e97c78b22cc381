// Observes the changes of units of work, for the audit log.

import type { Sql } from '../../platform/database/index.ts'
import type { AggregateRef } from './events.ts'

export interface ChangeObservers {
  /** Called at the start of a unit of work; undefined if nobody needs the log. */
  observer(query: Sql): ChangeObserver | undefined
  /** Runs the consequences of a commit that are not part of the command. */
  apart<T>(work: () => T): T
}

/** An action that shows in no observed row. It is logged as it is, so it must not contain secrets. */
export interface Noted {
  domain: 'users' | 'follows' | 'videos' | 'comments' | 'blocklist' | 'watched-words' | 'config' | 'plugins'
  action: 'create' | 'update' | 'delete'
  id: number
  entity: Record<string, string | number | boolean>
}

export interface ChangeObserver {
  /** Observes an aggregate before it is changed. */
  changing(of: AggregateRef): Promise<void>
  created(of: AggregateRef): void
  note(done: Noted): void
  /** Stores the differences. */
  store(): Promise<void>
}
