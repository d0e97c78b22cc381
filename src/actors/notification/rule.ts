// The format of a rule: which event notifies whom about what. The table of all rules is in rules/index.ts.

import type { EventName, EventPayloads } from '../runtime/index.ts'
import { hasRight, type UserRight, userRoles } from '../user/index.ts'
import type { NotificationType } from './types.ts'

/** Columns that reference the object of a notification. */
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
  | 'plugin_id'
  | 'video_caption_id'

export interface NotificationSource {
  type: NotificationType
  about: readonly [Subject, ...Subject[]]
  /**
   * SQL, one statement for all notified users: rows of `user_id`, `key` (text; one notification per user, type and key), `by_actor_id` (the
   * acting actor of an account or the instance; null without one) and the columns of `about`. It selects candidates; `notify` applies the
   * common conditions. Its values are `$1`, `$2`, ...
   */
  audience: string
}

/** For the events of `on`, in the transaction of their reaction. */
export type Rule<N extends EventName = EventName> = NotificationSource & { on: readonly N[] } & (
    | {
        /** The values of the audience; undefined if the event causes no notification. */
        values(payload: EventPayloads[N]): readonly unknown[] | undefined
      }
    | {
        /** The object of the event. The audience covers several events: `$1` is the array of their ids. */
        id(payload: EventPayloads[N]): number
      }
  )

/** A rule in the table. */
export interface TabledRule extends NotificationSource {
  on: readonly EventName[]
  /** The values of the audiences of several events. */
  audiences(payloads: readonly unknown[]): (readonly unknown[])[]
}

/** For the table: the payload of an event has the type of its name. */
export function rule<N extends EventName>(one: Rule<N>): TabledRule {
  const { on, type, about, audience } = one
  const common = { on, type, about, audience }
  if ('id' in one) return { ...common, audiences: (payloads) => [[payloads.map((of) => one.id(of as EventPayloads[N]))]] }
  return {
    ...common,
    audiences: (payloads) => payloads.flatMap((of) => [one.values(of as EventPayloads[N]) ?? []].filter((values) => values.length > 0)),
  }
}

/** SQL: true if the user has a right. `user` is an alias of its row. */
export const hasRightSql = (user: string, right: UserRight): string =>
  `${user}.role in (${Object.values(userRoles)
    .filter((role) => hasRight(role, right))
    .join(', ')})`
