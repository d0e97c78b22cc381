// Users as the staff reads them.

import { z } from 'zod'
import type { UserRow, UserStats, UserUsage } from '../../actors/user/index.ts'
import { toNotices, toUserView, userView, withNotices } from '../me/views.ts'

const usageView = { totalVideoFileSize: z.int(), videoQuotaUsed: z.int(), videoQuotaUsedDaily: z.int() }

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

export const listedUserView = userView.extend({ ...usageView, ...withNotices }).meta({ id: 'ListedUser' })

export const createdUserView = z.object({ user: z.object({ id: z.int(), account: z.object({ id: z.int() }) }) })

export function toUserWithStatsView(row: UserRow & UserStats, host: string): z.infer<typeof userWithStatsView> {
  return {
    ...toUserView(row, host),
    ...toUsage(row),
    videosCount: row.videos,
    videoCommentsCount: row.comments,
    abusesCount: row.abuses,
    abusesAcceptedCount: row.accepted_abuses,
    abusesCreatedCount: row.created_abuses,
  }
}

/** The list omits the channels of each. */
export function toListedUserView(row: Omit<UserRow, 'channels'> & UserUsage, host: string): z.infer<typeof listedUserView> {
  const view = toUserView({ ...row, channels: [] }, host)
  return { ...view, ...toUsage(row), notificationSettings: toNotices(row) }
}

const toUsage = ({ used, used_daily }: UserUsage) => ({
  totalVideoFileSize: used,
  videoQuotaUsed: used,
  videoQuotaUsedDaily: used_daily,
})
