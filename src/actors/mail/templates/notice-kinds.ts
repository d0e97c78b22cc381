// Each kind of notification: with which setting its mails are wished for, and what it is called.

import type { NoticeKind } from './notices.ts'

export interface KindOfMail {
  /** By its name in the contract (`UserNotificationSetting`). */
  setting: string
  /** What one is told of: "you asked for mails about ...". */
  about: string
  /** Several of them, in the subject of one mail. */
  several: string
}

export const kinds: Readonly<Record<NoticeKind, KindOfMail>> = {
  newVideoFromSubscription: {
    setting: 'newVideoFromSubscription',
    about: 'new videos of channels that you subscribed to',
    several: 'new videos from your subscriptions',
  },
  newCommentOnMyVideo: {
    setting: 'newCommentOnMyVideo',
    about: 'comments on your videos',
    several: 'new comments on your videos',
  },
  commentMention: {
    setting: 'commentMention',
    about: 'comments that mention you',
    several: 'comments that mention you',
  },
  newAbuseForModerators: {
    setting: 'abuseAsModerator',
    about: 'reports, as one of the moderators',
    several: 'new reports',
  },
  abuseStateChange: {
    setting: 'abuseStateChange',
    about: 'decisions on your reports',
    several: 'decisions on your reports',
  },
  abuseNewMessage: {
    setting: 'abuseNewMessage',
    about: 'messages about reports',
    several: 'new messages about reports',
  },
  videoAutoBlacklistForModerators: {
    setting: 'videoAutoBlacklistAsModerator',
    about: 'videos that wait for a review, as one of the moderators',
    several: 'videos that wait for a review',
  },
  blacklistOnMyVideo: {
    setting: 'blacklistOnMyVideo',
    about: 'blocks of your videos',
    several: 'videos of yours that were blocked',
  },
  unblacklistOnMyVideo: {
    setting: 'blacklistOnMyVideo',
    about: 'blocks of your videos',
    several: 'videos of yours that are no longer blocked',
  },
  myVideoPublished: {
    setting: 'myVideoPublished',
    about: 'the publication of your videos',
    several: 'videos of yours that are published',
  },
  myVideoImportSuccess: {
    setting: 'myVideoImportFinished',
    about: 'the end of your imports',
    several: 'imports of yours that are done',
  },
  myVideoImportError: {
    setting: 'myVideoImportFinished',
    about: 'the end of your imports',
    several: 'imports of yours that failed',
  },
  myVideoStudioEditionFinished: {
    setting: 'myVideoStudioEditionFinished',
    about: 'the end of editing your videos',
    several: 'videos of yours that are edited',
  },
  newUserRegistration: {
    setting: 'newUserRegistration',
    about: 'new accounts, as one of the moderators',
    several: 'new accounts',
  },
  newUserRegistrationRequest: {
    setting: 'newUserRegistration',
    about: 'new accounts, as one of the moderators',
    several: 'requests for an account',
  },
  newFollow: {
    setting: 'newFollow',
    about: 'new followers of you and your channels',
    several: 'new followers',
  },
  newInstanceFollower: {
    setting: 'newInstanceFollower',
    about: 'new followers of this server, as one of its administrators',
    several: 'new followers of this server',
  },
  autoInstanceFollowing: {
    setting: 'autoInstanceFollowing',
    about: 'servers that this one follows by itself, as one of its administrators',
    several: 'servers that this one follows now',
  },
  newPeerTubeVersion: {
    setting: 'newPeerTubeVersion',
    about: 'new versions of the software, as one of its administrators',
    several: 'new versions of the software',
  },
}
