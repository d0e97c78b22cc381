// Users as the staff reads them.

import { z } from 'zod'
import type { MeRow, UserStats, UserUsage } from '../../actors/user/index.ts'
import { meView, toMeView } from '../me/views.ts'

const usageView = { totalVideoFileSize: z.int(), videoQuotaUsed: z.int(), videoQuotaUsedDaily: z.int() }

const onlyForStaff = {
  noInstanceConfigWarningModal: z.boolean(),
  noWelcomeModal: z.boolean(),
  noAccountSetupWarningModal: z.boolean(),
  pluginAuth: z.string().nullable(),
}

export const userView = meView.extend(onlyForStaff).meta({ id: 'ManagedUser' })

export const userWithStatsView = userView
  .extend({
    ...usageView,
    videosCount: z.int(),
    videoCommentsCount: z.int(),
    abusesCount: z.int(),
    abusesAcceptedCount: z.int(),
    abusesCreatedCount: z.int(),
  })
  .meta({ id: 'UserWithStats' })

export const listedUserView = userView
  .extend({ ...usageView, notificationSettings: z.record(z.string(), z.int()) })
  .meta({ id: 'ListedUser' })

export const createdUserView = z.object({ user: z.object({ id: z.int(), account: z.object({ id: z.int() }) }) })

/** What everybody gets who has chosen nothing else. Bits: 1 on the site, 2 by mail. */
const NOTIFICATIONS = {
  newVideoFromSubscription: 1,
  newCommentOnMyVideo: 1,
  abuseAsModerator: 3,
  videoAutoBlacklistAsModerator: 3,
  blacklistOnMyVideo: 3,
  myVideoPublished: 1,
  myVideoImportFinished: 1,
  commentMention: 1,
  newFollow: 1,
  newUserRegistration: 1,
  newInstanceFollower: 1,
  autoInstanceFollowing: 1,
  abuseNewMessage: 3,
  abuseStateChange: 3,
  newPeerTubeVersion: 3,
  newPluginVersion: 1,
  myVideoStudioEditionFinished: 1,
  myVideoTranscriptionGenerated: 1,
}

export function toUserView(row: MeRow, host: string): z.infer<typeof userView> {
  return {
    noInstanceConfigWarningModal: false,
    noWelcomeModal: false,
    noAccountSetupWarningModal: false,
    ...toMeView(row, host),
    pluginAuth: row.plugin_auth,
  }
}

export function toUserWithStatsView(row: MeRow & UserStats, host: string): z.infer<typeof userWithStatsView> {
  return {
    ...toUserView(row, host),
    ...toUsage(row),
    videosCount: row.videos,
    videoCommentsCount: row.comments,
    ...ABUSES,
  }
}

/** The list goes without the channels of each. */
export function toListedUserView(
  row: Omit<MeRow, 'channels'> & UserUsage,
  host: string,
): z.infer<typeof listedUserView> {
  const view = toUserView({ ...row, channels: [] }, host)
  return { ...view, ...toUsage(row), notificationSettings: NOTIFICATIONS }
}

const toUsage = ({ used, used_daily }: UserUsage) => ({
  totalVideoFileSize: used,
  videoQuotaUsed: used,
  videoQuotaUsedDaily: used_daily,
})

/** Nobody can report anything on this server yet. */
const ABUSES = { abusesCount: 0, abusesAcceptedCount: 0, abusesCreatedCount: 0 }
