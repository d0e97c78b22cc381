// What a rule says: at which event who is told of what. The table of all rules is in rules/index.ts.

import type { EventName, EventPayloads } from '../runtime/index.ts'
import { hasRight, type UserRight, userRoles } from '../user/index.ts'
import type { NotificationType } from './types.ts'

/** The columns that say what a notification is about. */
export type Subject =
  | 'video_id'
  | 'comment_id'
  | 'abuse_id'
  | 'abuse_message_id'
  | 'video_block_id'
  | 'video_import_id'
  | 'follow_id'
  | 'account_id'
  | 'registration_id'
  | 'application_version'

export interface Telling {
  type: NotificationType
  about: readonly Subject[]
  /**
   * SQL, one statement for however many are told: rows of `user_id`, `key` (text; what is told once to a user under this type),
   * `by_actor_id` (the actor of the account, or the instance, whose doing it is; null when it is nobody's) and the columns of
   * `about`. It says who could be told: what is true of all notifications is left to `notify`. Its values are `$1`, `$2`, ...
   */
  audience: string
}

/** Of the events of `on`, in the transaction of their reaction. */
export interface Rule<N extends EventName = EventName> extends Telling {
  on: readonly N[]
  /** The values of the audience; undefined when the event is none to tell of. */
  values(payload: EventPayloads[N]): readonly unknown[] | undefined
}

/** A rule as the table holds it. */
export interface TabledRule extends Telling {
  on: readonly EventName[]
  values(payload: unknown): readonly unknown[] | undefined
}

/** For the table: the payload of an event is that of its name. */
export const rule = <N extends EventName>({ values, ...told }: Rule<N>): TabledRule => ({
  ...told,
  values: (payload) => values(payload as EventPayloads[N]),
})

/** SQL: the users who have a right. `user` is an alias of their rows. */
export const hasRightSql = (user: string, right: UserRight): string =>
  `${user}.role in (${Object.values(userRoles)
    .filter((role) => hasRight(role, right))
    .join(', ')})`
