// ServerStats, as clients and lists of instances read it.

import { z } from 'zod'
import { countedTypes } from '../../actors/incoming-activity/index.ts'
import type { ServerStats } from '../../actors/server-stats/index.ts'
import type { Config } from '../../config/index.ts'

const count = z.int().min(0)

const byType = Object.fromEntries(
  (['Successes', 'Errors'] as const).flatMap((result) => countedTypes.map((type) => [nameOf(type, result), count])),
)

export const serverStatsView = z
  .object({
    totalUsers: count,
    totalDailyActiveUsers: count,
    totalWeeklyActiveUsers: count,
    totalMonthlyActiveUsers: count,
    // Omitted if the configuration hides it.
    totalModerators: count.optional(),
    totalAdmins: count.optional(),
    totalLocalVideos: count,
    totalLocalVideoViews: count,
    totalLocalVideoComments: count,
    totalLocalVideoFilesSize: count.meta({ description: 'Bytes.' }),
    totalVideos: count,
    totalVideoComments: count,
    totalLocalVideoChannels: count,
    totalLocalDailyActiveVideoChannels: count,
    totalLocalWeeklyActiveVideoChannels: count,
    totalLocalMonthlyActiveVideoChannels: count,
    totalLocalPlaylists: count,
    totalInstanceFollowers: count,
    totalInstanceFollowing: count,
    videosRedundancy: z.array(
      z.object({
        totalUsed: count,
        totalVideos: count,
        totalVideoFiles: count,
        strategy: z.enum(['most-views', 'trending', 'recently-added', 'manual']),
        totalSize: count.nullable(),
      }),
    ),
    averageAbuseResponseTimeMs: count.nullable().optional(),
    totalAbuses: count.optional(),
    totalAbusesProcessed: count.optional(),
    averageRegistrationRequestResponseTimeMs: count.nullable().optional(),
    totalRegistrationRequests: count.optional(),
    totalRegistrationRequestsProcessed: count.optional(),
    totalActivityPubMessagesProcessed: count,
    totalActivityPubMessagesSuccesses: count,
    totalActivityPubMessagesErrors: count,
    ...byType,
    activityPubMessagesProcessedPerSecond: z.number().min(0),
    totalActivityPubMessagesWaiting: count,
  })
  .meta({ id: 'ServerStats' })

export function toServerStats({ totals, redundancy, activities }: ServerStats, { stats }: Config): z.infer<typeof serverStatsView> {
  const { successes, errors, waiting, perSecond } = activities
  const [good, bad] = [sum(successes), sum(errors)]
  return {
    totalUsers: totals.users,
    totalDailyActiveUsers: totals.dailyActiveUsers,
    totalWeeklyActiveUsers: totals.weeklyActiveUsers,
    totalMonthlyActiveUsers: totals.monthlyActiveUsers,
    ...(stats.total_moderators.enabled ? { totalModerators: totals.moderators } : {}),
    ...(stats.total_admins.enabled ? { totalAdmins: totals.admins } : {}),
    totalLocalVideos: totals.localVideos,
    totalLocalVideoViews: totals.localVideoViews,
    totalLocalVideoComments: totals.localVideoComments,
    totalLocalVideoFilesSize: totals.localVideoFilesSize,
    totalVideos: totals.videos,
    totalVideoComments: totals.videoComments,
    totalLocalVideoChannels: totals.localVideoChannels,
    totalLocalDailyActiveVideoChannels: totals.dailyActiveChannels,
    totalLocalWeeklyActiveVideoChannels: totals.weeklyActiveChannels,
    totalLocalMonthlyActiveVideoChannels: totals.monthlyActiveChannels,
    totalLocalPlaylists: totals.localPlaylists,
    totalInstanceFollowers: totals.instanceFollowers,
    totalInstanceFollowing: totals.instanceFollowing,
    videosRedundancy: redundancy.map(({ strategy, totalSize, totalUsed, totalVideos, totalVideoFiles }) => ({
      totalUsed,
      totalVideos,
      totalVideoFiles,
      strategy,
      totalSize,
    })),
    ...(stats.abuses.enabled
      ? {
          averageAbuseResponseTimeMs: rounded(totals.abuseResponseMs),
          totalAbuses: totals.abuses,
          totalAbusesProcessed: totals.abusesProcessed,
        }
      : {}),
    ...(stats.registration_requests.enabled
      ? {
          averageRegistrationRequestResponseTimeMs: rounded(totals.registrationResponseMs),
          totalRegistrationRequests: totals.registrationRequests,
          totalRegistrationRequestsProcessed: totals.registrationRequestsProcessed,
        }
      : {}),
    totalActivityPubMessagesProcessed: good + bad,
    totalActivityPubMessagesSuccesses: good,
    totalActivityPubMessagesErrors: bad,
    ...Object.fromEntries(countedTypes.map((type) => [nameOf(type, 'Successes'), successes[type]])),
    ...Object.fromEntries(countedTypes.map((type) => [nameOf(type, 'Errors'), errors[type]])),
    activityPubMessagesProcessedPerSecond: perSecond,
    totalActivityPubMessagesWaiting: waiting,
  }
}

function nameOf(type: string, result: 'Successes' | 'Errors'): string {
  return `totalActivityPub${type}Messages${result}`
}

const sum = (counts: Readonly<Record<string, number>>): number => Object.values(counts).reduce((total, one) => total + one, 0)

const rounded = (ms: number | null): number | null => (ms === null ? null : Math.max(0, Math.round(ms)))
