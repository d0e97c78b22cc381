// Notification preferences of a user, by kind.

import { defineEntity, p } from '@mikro-orm/postgresql'

export const NotificationSetting = defineEntity({
  name: 'NotificationSetting',
  tableName: 'notification_setting',
  properties: {
    userId: p.integer().primary(),
    newVideoFromSubscription: p.smallint(),
    newCommentOnMyVideo: p.smallint(),
    abuseAsModerator: p.smallint(),
    videoAutoBlacklistAsModerator: p.smallint(),
    blacklistOnMyVideo: p.smallint(),
    myVideoPublished: p.smallint(),
    myVideoImportFinished: p.smallint(),
    commentMention: p.smallint(),
    newFollow: p.smallint(),
    newUserRegistration: p.smallint(),
    newInstanceFollower: p.smallint(),
    autoInstanceFollowing: p.smallint(),
    abuseStateChange: p.smallint(),
    abuseNewMessage: p.smallint(),
    newPeertubeVersion: p.smallint(),
    newPluginVersion: p.smallint(),
    myVideoStudioEditionFinished: p.smallint(),
    myVideoTranscriptionGenerated: p.smallint(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
  },
})
