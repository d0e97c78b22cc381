// Names of notification kinds in mails.

import type { NotificationSettings } from '../../notification-setting/index.ts'
import type { NoticeKind } from './notices.ts'

/** Several of a kind, as a subject: `12 new comments on your videos`. */
export const severalOf: Readonly<Record<NoticeKind, string>> = {
  newVideoFromSubscription: 'new videos from your subscriptions',
  newLiveFromSubscription: 'live streams from your subscriptions',
  newCommentOnMyVideo: 'new comments on your videos',
  commentMention: 'comments that mention you',
  newAbuseForModerators: 'new reports',
  abuseStateChange: 'decisions on your reports',
  abuseNewMessage: 'new messages about reports',
  videoAutoBlacklistForModerators: 'videos awaiting review',
  blacklistOnMyVideo: 'of your videos were blocked',
  unblacklistOnMyVideo: 'of your videos were unblocked',
  myVideoPublished: 'of your videos were published',
  myVideoImportSuccess: 'of your imports are finished',
  myVideoImportError: 'of your imports failed',
  myVideoStudioEditionFinished: 'of your videos were edited',
  newUserRegistration: 'new accounts',
  newUserRegistrationRequest: 'new registration requests',
  newFollow: 'new subscribers',
  newInstanceFollower: 'new followers of this server',
  autoInstanceFollowing: 'servers followed automatically',
  newPeerTubeVersion: 'new versions of the software',
}

/** Description of a setting: `mails about comments on your videos`. */
export const aboutOf: Readonly<Record<keyof NotificationSettings, string>> = {
  newVideoFromSubscription: 'new videos of channels that you subscribed to',
  newCommentOnMyVideo: 'comments on your videos',
  commentMention: 'comments that mention you',
  abuseAsModerator: 'reports, as one of the moderators',
  abuseStateChange: 'decisions on your reports',
  abuseNewMessage: 'messages about reports',
  videoAutoBlacklistAsModerator: 'videos awaiting review, as one of the moderators',
  blacklistOnMyVideo: 'blocks of your videos',
  myVideoPublished: 'the publication of your videos',
  myVideoImportFinished: 'the end of your imports',
  myVideoStudioEditionFinished: 'the end of editing your videos',
  myVideoTranscriptionGenerated: 'captions that were made for your videos',
  newUserRegistration: 'new accounts, as one of the moderators',
  newFollow: 'new subscribers to you and your channels',
  newInstanceFollower: 'new followers of this server, as one of its administrators',
  autoInstanceFollowing: 'servers followed automatically, as one of the administrators',
  newPeerTubeVersion: 'new versions of the software, as one of its administrators',
  newPluginVersion: 'new versions of plugins, as one of the administrators',
}
