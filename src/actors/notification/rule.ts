// What a rule says: which event notifies whom of what. The table of all rules is in rules/index.ts.

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
  about: readonly [Subject, ...Subject[]]
  /**
   * SQL, one statement for all who are notified: rows of `user_id`, `key` (text; one notification for each user, type and key),
   * `by_actor_id` (the actor of the account, or the instance, whose doing it is; null when it is nobody's) and the columns of
   * `about`. It selects candidates: what is true of all notifications is left to `notify`. Its values are `$1`, `$2`, ...
   */
  audience: string
}

/** Of the events of `on`, in the transaction of their reaction. */
export type Rule<N extends EventName = EventName> = Telling & { on: readonly N[] } & (
    | {
        /** The values of the audience; undefined when the event is none to tell of. */
        values(payload: EventPayloads[N]): readonly unknown[] | undefined
      }
    | {
        /** What the event is about. The audience is that of several events: `$1` is the array of their ids. */
        id(payload: EventPayloads[N]): number
      }
  )

/** A rule as the table holds it. */
export interface TabledRule extends Telling {
  on: readonly EventName[]
  /** The values of each audience of several events. */
  audiences(payloads: readonly unknown[]): (readonly unknown[])[]
}

/** For the table: the payload of an event is that of its name. */
export function rule<N extends EventName>(one: Rule<N>): TabledRule {
  const { on, type, about, audience } = one
  const told = { on, type, about, audience }
  if ('id' in one) return { ...told, audiences: (payloads) => [[payloads.map((of) => one.id(of as EventPayloads[N]))]] }
  return {
    ...told,
    audiences: (payloads) => payloads.flatMap((of) => [one.values(of as EventPayloads[N]) ?? []].filter((values) => values.length > 0)),
  }
}

/** SQL: the users who have a right. `user` is an alias of their rows. */
export const hasRightSql = (user: string, right: UserRight): string =>
  `${user}.role in (${Object.values(userRoles)
    .filter((role) => hasRight(role, right))
    .join(', ')})`
