// The kinds of notifications, and the setting of each.

import { columnOf, type NotificationSettings, notificationDefaults } from '../notification-setting/index.ts'

/** `UserNotificationType` of the contract. */
export const notificationTypes = {
  newVideoFromSubscription: 1,
  newCommentOnMyVideo: 2,
  newAbuseForModerators: 3,
  blacklistOnMyVideo: 4,
  unblacklistOnMyVideo: 5,
  myVideoPublished: 6,
  myVideoImportSuccess: 7,
  myVideoImportError: 8,
  newUserRegistration: 9,
  newFollow: 10,
  commentMention: 11,
  videoAutoBlacklistForModerators: 12,
  newInstanceFollower: 13,
  autoInstanceFollowing: 14,
  abuseStateChange: 15,
  abuseNewMessage: 16,
  newPluginVersion: 17,
  newPeerTubeVersion: 18,
  myVideoStudioEditionFinished: 19,
  newUserRegistrationRequest: 20,
  newLiveFromSubscription: 21,
  myVideoTranscriptionGenerated: 22,
} as const

export type NotificationType = keyof typeof notificationTypes

const SETTINGS = {
  newVideoFromSubscription: 'newVideoFromSubscription',
  newCommentOnMyVideo: 'newCommentOnMyVideo',
  newAbuseForModerators: 'abuseAsModerator',
  blacklistOnMyVideo: 'blacklistOnMyVideo',
  unblacklistOnMyVideo: 'blacklistOnMyVideo',
  myVideoPublished: 'myVideoPublished',
  myVideoImportSuccess: 'myVideoImportFinished',
  myVideoImportError: 'myVideoImportFinished',
  newUserRegistration: 'newUserRegistration',
  newFollow: 'newFollow',
  commentMention: 'commentMention',
  videoAutoBlacklistForModerators: 'videoAutoBlacklistAsModerator',
  newInstanceFollower: 'newInstanceFollower',
  autoInstanceFollowing: 'autoInstanceFollowing',
  abuseStateChange: 'abuseStateChange',
  abuseNewMessage: 'abuseNewMessage',
  newPluginVersion: 'newPluginVersion',
  newPeerTubeVersion: 'newPeerTubeVersion',
  myVideoStudioEditionFinished: 'myVideoStudioEditionFinished',
  newUserRegistrationRequest: 'newUserRegistration',
  newLiveFromSubscription: 'newVideoFromSubscription',
  myVideoTranscriptionGenerated: 'myVideoTranscriptionGenerated',
} as const satisfies Record<NotificationType, keyof NotificationSettings>

export const settingOf = (type: NotificationType): keyof NotificationSettings => SETTINGS[type]

/** SQL: a user's setting of a kind, as the bits of `channelBits`; `stored` is an alias of the row of settings, if there is one. */
export const channelBitsOf = (type: NotificationType, stored: string): string =>
  `coalesce(${stored}.${columnOf(SETTINGS[type])}, ${notificationDefaults[SETTINGS[type]]})`

/** Bits of a setting. */
export const channelBits = { web: 1, mail: 2 } as const
