// The right by which the staff gets each kind of notification. Who has lost it does not see these notifications any more.

import type { UserRight } from '../user/index.ts'
import { hasRightSql } from './rule.ts'
import { type NotificationType, notificationTypes } from './types.ts'

export const rightsOfStaff = {
  newAbuseForModerators: 'MANAGE_ABUSES',
  videoAutoBlacklistForModerators: 'MANAGE_VIDEO_BLACKLIST',
  newUserRegistration: 'MANAGE_USERS',
  newUserRegistrationRequest: 'MANAGE_REGISTRATIONS',
  newInstanceFollower: 'MANAGE_SERVER_FOLLOW',
  autoInstanceFollowing: 'MANAGE_SERVER_FOLLOW',
  newPeerTubeVersion: 'MANAGE_CONFIGURATION',
} as const satisfies Partial<Record<NotificationType, UserRight>>

/** Notifications for the staff, and for the reporter. */
export const RIGHT_OF_MESSAGES: UserRight = 'MANAGE_ABUSES'

const ofStaff = Object.entries(rightsOfStaff) as [keyof typeof rightsOfStaff, UserRight][]

/** SQL: whether the user `u`, with the account `me`, may still look at what the notification `n` is about. */
export const IS_STILL_THEIRS = `case n.type
  ${ofStaff.map(([type, right]) => `when ${notificationTypes[type]} then ${hasRightSql('u', right)}`).join('\n  ')}
  when ${notificationTypes.abuseNewMessage} then ${hasRightSql('u', RIGHT_OF_MESSAGES)}
    or exists (select from abuse r where r.id = n.abuse_id and r.reporter_id = me.id)
  else true end`
