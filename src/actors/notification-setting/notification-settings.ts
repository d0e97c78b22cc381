// Notification preferences: on the site (1), by mail (2), both (3) or not at all (0).

import type { Sql } from '../../platform/database/index.ts'
import type { ActorDeps, Unit } from '../runtime/index.ts'
import { renewSessions } from '../session/index.ts'

const WEB = 1
const WEB_AND_MAIL = 3

/** Defaults, by the names of the contract (`UserNotificationSetting`). */
export const notificationDefaults = {
  newVideoFromSubscription: WEB,
  newCommentOnMyVideo: WEB,
  abuseAsModerator: WEB_AND_MAIL,
  videoAutoBlacklistAsModerator: WEB_AND_MAIL,
  blacklistOnMyVideo: WEB_AND_MAIL,
  myVideoPublished: WEB,
  myVideoImportFinished: WEB,
  commentMention: WEB,
  newFollow: WEB,
  newUserRegistration: WEB,
  newInstanceFollower: WEB,
  autoInstanceFollowing: WEB,
  abuseStateChange: WEB_AND_MAIL,
  abuseNewMessage: WEB_AND_MAIL,
  newPeerTubeVersion: WEB_AND_MAIL,
  newPluginVersion: WEB,
  myVideoStudioEditionFinished: WEB,
  myVideoTranscriptionGenerated: WEB,
}

export type NotificationSettings = Record<keyof typeof notificationDefaults, number>

const columns = Object.keys(notificationDefaults).map((name) => ({ name, column: columnOf(name) }))

/** SQL for the settings of a user, or null if there are none. `user` is an alias of its row. */
export const notificationSettingsOf = (user: string): string =>
  `(select jsonb_build_object(${columns.map(({ name, column }) => `'${name}', n.${column}`).join(', ')})
    from notification_setting n where n.user_id = ${user}.id)`

export type NotificationSettingCommands = ReturnType<typeof makeNotificationSettings>

export function makeNotificationSettings({ tell }: Pick<ActorDeps, 'tell'>) {
  return {
    /** Stores them; omitted ones stay. */
    async update(userId: number, settings: Partial<NotificationSettings>): Promise<void> {
      await tell({ aggregate: 'user', id: userId }, (unit) => changeNotificationSettings(unit, userId, () => settings))
    },
  }
}

/** Of a user, with defaults for missing ones. */
export async function findNotificationSettings(query: Sql, userId: number): Promise<NotificationSettings> {
  const [stored] = await query<{ settings: NotificationSettings | null }>(
    `select ${notificationSettingsOf('u')} as settings from users u where u.id = $1`,
    [userId],
  )
  return { ...notificationDefaults, ...stored?.settings }
}

/** In a message to the user; `change` returns the changed ones. */
export async function changeNotificationSettings(
  unit: Pick<Unit, 'query' | 'now' | 'publish'>,
  userId: number,
  change: (settings: NotificationSettings) => Partial<NotificationSettings>,
): Promise<void> {
  const settings = await findNotificationSettings(unit.query, userId)
  const values: Record<string, number> = { ...settings, ...change(settings) }
  const names = columns.map(({ column }) => column)
  await unit.query(
    `insert into notification_setting (user_id, created_at, updated_at, ${names.join(', ')})
     values ($1, $2, $2, ${names.map((_name, index) => `$${index + 3}`).join(', ')})
     on conflict (user_id) do update set updated_at = excluded.updated_at,
       ${names.map((name) => `${name} = excluded.${name}`).join(', ')}`,
    [userId, unit.now, ...columns.map(({ name }) => values[name])],
  )
  renewSessions(unit, { user: userId })
}

/** Its column: `newPeerTubeVersion` → `new_peertube_version`. */
export function columnOf(name: string): string {
  return name.replace('PeerTube', 'Peertube').replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
