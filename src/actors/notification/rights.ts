// The right that each kind of notification for the staff requires. Users who lose it do not see these notifications any more.

import type { UserRight } from '../user/index.ts'
import { hasRightSql } from './rule.ts'
import { type NotificationType, notificationTypes, settingOf } from './types.ts'

export const rightsOfStaff = {
  newAbuseForModerators: 'MANAGE_ABUSES',
  videoAutoBlacklistForModerators: 'MANAGE_VIDEO_BLACKLIST',
  newUserRegistration: 'MANAGE_USERS',
  newUserRegistrationRequest: 'MANAGE_REGISTRATIONS',
  newInstanceFollower: 'MANAGE_SERVER_FOLLOW',
  autoInstanceFollowing: 'MANAGE_SERVER_FOLLOW',
  newPluginVersion: 'MANAGE_PLUGINS',
  newPeerTubeVersion: 'MANAGE_CONFIGURATION',
} as const satisfies Partial<Record<NotificationType, UserRight>>

/** Notifications for the staff, and for the reporter. */
export const RIGHT_OF_MESSAGES: UserRight = 'MANAGE_ABUSES'

const ofStaff = Object.entries(rightsOfStaff) as [keyof typeof rightsOfStaff, UserRight][]

/** The settings of notifications for the staff only, each with its right. */
export const rightsOfSettings = new Map(ofStaff.map(([type, right]) => [settingOf(type), right]))

/** SQL: true if the user `u`, with the account `me`, may still see the object of the notification `n`. */
export const IS_STILL_THEIRS = `case n.type
  ${ofStaff.map(([type, right]) => `when ${notificationTypes[type]} then ${hasRightSql('u', right)}`).join('\n  ')}
  when ${notificationTypes.abuseNewMessage} then ${hasRightSql('u', RIGHT_OF_MESSAGES)}
    or exists (select from abuse r where r.id = n.abuse_id and r.reporter_id = me.id)
  else true end`
