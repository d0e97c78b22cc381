// What notifications are called in mails.

import type { NotificationSettings } from '../../notification-setting/index.ts'
import type { NoticeKind } from './notices.ts'

/** Several of a kind, as a subject: `12 new comments on your videos`. */
export const severalOf: Readonly<Record<NoticeKind, string>> = {
  newVideoFromSubscription: 'new videos from your subscriptions',
  newCommentOnMyVideo: 'new comments on your videos',
  commentMention: 'comments that mention you',
  newAbuseForModerators: 'new reports',
  abuseStateChange: 'decisions on your reports',
  abuseNewMessage: 'new messages about reports',
  videoAutoBlacklistForModerators: 'videos that wait for a review',
  blacklistOnMyVideo: 'videos of yours that were blocked',
  unblacklistOnMyVideo: 'videos of yours that are no longer blocked',
  myVideoPublished: 'videos of yours that are published',
  myVideoImportSuccess: 'imports of yours that are done',
  myVideoImportError: 'imports of yours that failed',
  myVideoStudioEditionFinished: 'videos of yours that are edited',
  newUserRegistration: 'new accounts',
  newUserRegistrationRequest: 'requests for an account',
  newFollow: 'new subscribers',
  newInstanceFollower: 'new followers of this server',
  autoInstanceFollowing: 'servers that this one follows now',
  newPeerTubeVersion: 'new versions of the software',
}

/** What a setting is for: `mails about comments on your videos`. */
export const aboutOf: Readonly<Record<keyof NotificationSettings, string>> = {
  newVideoFromSubscription: 'new videos of channels that you subscribed to',
  newCommentOnMyVideo: 'comments on your videos',
  commentMention: 'comments that mention you',
  abuseAsModerator: 'reports, as one of the moderators',
  abuseStateChange: 'decisions on your reports',
  abuseNewMessage: 'what is written about reports',
  videoAutoBlacklistAsModerator: 'videos that wait for a review, as one of the moderators',
  blacklistOnMyVideo: 'blocks of your videos',
  myVideoPublished: 'the publication of your videos',
  myVideoImportFinished: 'the end of your imports',
  myVideoStudioEditionFinished: 'the end of editing your videos',
  myVideoTranscriptionGenerated: 'captions that were made for your videos',
  newUserRegistration: 'new accounts, as one of the moderators',
  newFollow: 'new subscribers to you and your channels',
  newInstanceFollower: 'new followers of this server, as one of its administrators',
  autoInstanceFollowing: 'servers that this one follows by itself, as one of its administrators',
  newPeerTubeVersion: 'new versions of the software, as one of its administrators',
  newPluginVersion: 'new versions of plugins, as one of the administrators',
}
