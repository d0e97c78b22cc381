// The only way to notify users: stores a notification once for all users who want it, pushes and mails it.

import { type Config, isMailEnabled } from '../../config/index.ts'
import { queueMail } from '../mail/index.ts'
import type { Unit } from '../runtime/index.ts'
import { IS_VISIBLE, isNotMuted, subjectJoins } from './conditions.ts'
import type { NotificationSource } from './rule.ts'
import { channelBits, channelBitsOf, notificationTypes } from './types.ts'

/** Bus topic of pushed notifications: `NotificationStored`. */
export const NOTIFICATION_STORED = 'notification.stored'

export interface NotificationStored {
  userId: number
  notificationId: number
}

/** Returns how many were stored. A notification is never stored twice, even if it was deleted. */
export type Notify = (unit: Unit, source: NotificationSource, values: readonly unknown[]) => Promise<number>

interface Stored {
  id: number
  userId: number
  onWeb: boolean
  byMail: boolean
  isFlood: boolean
  /** Push subscriptions of the user. */
  devices: number[]
}

export function makeNotify({ config }: { config: () => Config }): Notify {
  return async (unit, source, values) => {
    const stored = await store(unit, source, values, config().vireo.notifications)
    const isMailed = isMailEnabled(config())
    const flood = stored.filter(({ isFlood, onWeb }) => isFlood && onWeb)
    if (flood.length > 0) await fold(unit, source, flood)
    for (const { id: notificationId, userId, onWeb, byMail, isFlood, devices } of stored) {
      if (onWeb && !isFlood) {
        unit.publish(NOTIFICATION_STORED, { userId, notificationId })
        // A job for each, so that one whose service fails does not repeat the others.
        for (const subscriptionId of devices) unit.enqueue({ type: 'web-push', data: { notificationId, subscriptionId } })
      }
      if (byMail && isMailed) queueMail(unit, { mail: 'notification', notificationId })
    }
    return stored.length
  }
}

async function store(
  { query, now }: Unit,
  { type, about, audience }: NotificationSource,
  values: readonly unknown[],
  { flood_limit, flood_window }: Config['vireo']['notifications'],
): Promise<Stored[]> {
  const [nowAt, since, limit] = [1, 2, 3].map((nth) => `$${values.length + nth}`)
  const idOf = (column: (typeof about)[number]) => (about.includes(column) ? `t.${column}` : 'null::int')
  const columns = ['user_id', 'key', 'by_actor_id', ...about].join(', ')
  const ofKind = notificationTypes[type]
  return await query<Stored>(
    `with audience as materialized (${audience}), wanted as (
       select distinct on (t.user_id, t.key) t.*, ${channelBitsOf(type, 's')} as wish
       from audience t join users u on u.id = t.user_id and u.state = 'active' left join account me on me.user_id = u.id
         left join notification_setting s on s.user_id = u.id
         ${subjectJoins({ videoId: idOf('video_id'), commentId: idOf('comment_id') })}
       where ${channelBitsOf(type, 's')} <> 0 and ${isNotMuted('t.by_actor_id')} and ${IS_VISIBLE}
     ), stored as (
       insert into notification (type, on_web, created_at, updated_at, ${columns})
       select ${ofKind}, wish & ${channelBits.web} > 0, ${nowAt}::timestamptz, ${nowAt}::timestamptz, ${columns} from wanted
       order by user_id, ${about[0]} on conflict (user_id, type, key) do nothing returning id, user_id, on_web
     ), recent as materialized (
       select recipient.user_id, (select count(*) from (
         select from notification n where n.user_id = recipient.user_id and n.type = ${ofKind} and n.created_at > ${since}
         limit ${limit}
       ) known) as n
       from (select distinct user_id from stored) recipient
     )
     select stored.id, stored.user_id as "userId", stored.on_web as "onWeb", ${channelBitsOf(type, 's')} & ${channelBits.mail} > 0 as "byMail",
       recent.n + row_number() over (partition by stored.user_id order by stored.id) > ${limit} as "isFlood",
       array(select d.id from push_subscription d where d.user_id = stored.user_id) as devices
     from stored join recent on recent.user_id = stored.user_id
       left join notification_setting s on s.user_id = stored.user_id
     order by stored.id`,
    [...values, now, new Date(now.getTime() - flood_window), flood_limit],
  )
}

/** Notifications of a flood replace the previous newest ones: the user sees the last of them instead of a flooded list. */
async function fold({ query, now }: Unit, { type }: NotificationSource, flood: readonly Stored[]): Promise<void> {
  await query(
    `with folded as (
       select before.id from unnest((select $1::bigint[]), (select $2::int[])) as f (id, user_id), lateral (
         select n.id from notification n
         where n.user_id = f.user_id and n.type = $3 and n.on_web and n.id < f.id
         order by n.created_at desc, n.id desc limit 1
       ) before
     ) update notification set on_web = false, updated_at = $4 where id in (select id from folded)`,
    [flood.map(({ id }) => id), flood.map(({ userId }) => userId), notificationTypes[type], now],
  )
}
