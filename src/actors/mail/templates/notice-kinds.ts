// Names of notification kinds in mails.

import { type Localized, t } from '../../../platform/language.ts'
import type { NotificationSettings } from '../../notification-setting/index.ts'
import type { NoticeKind } from './notices.ts'

/** Several of a kind, as a subject: `12 new comments on your videos`. */
export const severalOf: Readonly<Record<NoticeKind, (count: number) => Localized>> = {
  newVideoFromSubscription: (count) => t('{count} new videos from your subscriptions', { count }),
  newLiveFromSubscription: (count) => t('{count} live streams from your subscriptions', { count }),
  newCommentOnMyVideo: (count) => t('{count} new comments on your videos', { count }),
  commentMention: (count) => t('{count} comments that mention you', { count }),
  newAbuseForModerators: (count) => t('{count} new reports', { count }),
  abuseStateChange: (count) => t('{count} decisions on your reports', { count }),
  abuseNewMessage: (count) => t('{count} new messages about reports', { count }),
  videoAutoBlacklistForModerators: (count) => t('{count} videos awaiting review', { count }),
  blacklistOnMyVideo: (count) => t('{count} of your videos were blocked', { count }),
  unblacklistOnMyVideo: (count) => t('{count} of your videos were unblocked', { count }),
  myVideoPublished: (count) => t('{count} of your videos were published', { count }),
  myVideoImportSuccess: (count) => t('{count} of your imports are finished', { count }),
  myVideoImportError: (count) => t('{count} of your imports failed', { count }),
  myVideoStudioEditionFinished: (count) => t('{count} of your videos were edited', { count }),
  myVideoTranscriptionGenerated: (count) => t('{count} captions were made for your videos', { count }),
  newUserRegistration: (count) => t('{count} new accounts', { count }),
  newUserRegistrationRequest: (count) => t('{count} new registration requests', { count }),
  newFollow: (count) => t('{count} new subscribers', { count }),
  newInstanceFollower: (count) => t('{count} new followers of this server', { count }),
  autoInstanceFollowing: (count) => t('{count} servers followed automatically', { count }),
  newPluginVersion: (count) => t('{count} new versions of plugins', { count }),
  newPeerTubeVersion: (count) => t('{count} new versions of the software', { count }),
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
