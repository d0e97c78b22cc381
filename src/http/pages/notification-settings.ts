// The notification preferences on pages, and the values of their form.

import { type NotificationSettings, notificationDefaults } from '../../actors/notification-setting/index.ts'
import { hasRight, type UserRight, type UserRole } from '../../actors/user/index.ts'
import { notificationSettingsView } from '../me/schemas.ts'
import type { SettingName } from './bodies/notification-settings.ts'
import type { Field } from './fields.ts'

/** Notifications for the staff only. */
const RIGHTS: Partial<Record<SettingName, UserRight>> = {
  abuseAsModerator: 'MANAGE_ABUSES',
  videoAutoBlacklistAsModerator: 'MANAGE_VIDEO_BLACKLIST',
  newUserRegistration: 'MANAGE_USERS',
  newInstanceFollower: 'MANAGE_SERVER_FOLLOW',
  autoInstanceFollowing: 'MANAGE_SERVER_FOLLOW',
  newPeerTubeVersion: 'MANAGE_CONFIGURATION',
  newPluginVersion: 'MANAGE_PLUGINS',
}

/** All kinds of notifications for users of this role. */
export const settingsFor = (role: UserRole): SettingName[] =>
  (Object.keys(notificationDefaults) as SettingName[]).filter((name) => {
    const right = RIGHTS[name]
    return right === undefined || hasRight(role, right)
  })

/** The settings in a form; `wrong`: those with an invalid value. */
export function readSettings(
  field: Field,
  names: readonly SettingName[],
): { changes: Partial<NotificationSettings>; wrong: Set<SettingName> } {
  const changes: Partial<NotificationSettings> = {}
  const wrong = new Set<SettingName>()
  for (const name of names) {
    const text = field(name)
    if (text === undefined) continue
    const { data } = notificationSettingsView.shape[name].safeParse(/^\d$/.test(text) ? Number(text) : text)
    if (data === undefined) wrong.add(name)
    else changes[name] = data
  }
  return { changes, wrong }
}
