// Public statistics of the instance. From maintained totals where available, otherwise from small indexes; concurrent requests share one
// computation.

import type { Config } from '../../config/index.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Database } from '../../platform/database/index.ts'
import { makeTtlCache } from '../../platform/ttl-cache.ts'
import { totalComments } from '../comment/index.ts'
import { type ActivityTotals, activityTotals } from '../incoming-activity/index.ts'
import { playlistPrivacies } from '../playlist/playlist.entity.ts'
import { type RedundancyStats, redundancyStats } from '../redundancy/index.ts'
import { userRoles } from '../user/user.entity.ts'
import { PUBLIC_VIDEOS, totalVideos } from '../video/index.ts'
import { isPublic, LISTED_PRIVACIES } from '../video/video.entity.ts'

export interface ServerTotals {
  users: number
  dailyActiveUsers: number
  weeklyActiveUsers: number
  monthlyActiveUsers: number
  moderators: number
  admins: number
  localVideos: number
  localVideoViews: number
  localVideoComments: number
  /** Bytes. */
  localVideoFilesSize: number
  videos: number
  videoComments: number
  localVideoChannels: number
  /** Channels with a public video of the last day, week and month. */
  dailyActiveChannels: number
  weeklyActiveChannels: number
  monthlyActiveChannels: number
  localPlaylists: number
  instanceFollowers: number
  instanceFollowing: number
  abuses: number
  abusesProcessed: number
  /** Milliseconds from the report to the first decision; null before the first one. */
  abuseResponseMs: number | null
  registrationRequests: number
  registrationRequestsProcessed: number
  registrationResponseMs: number | null
}

export interface ServerStats {
  totals: ServerTotals
  redundancy: RedundancyStats[]
  activities: ActivityTotals
}

const KEEP_MS = 30_000

export type ServerStatsReader = ReturnType<typeof makeServerStats>

export function makeServerStats(deps: {
  db: Pick<Database, 'query'>
  clock: Clock
  config: () => Config
  instanceActorId: () => Promise<number>
}) {
  const { db, clock, config, instanceActorId } = deps
  const kept = makeTtlCache<'stats', ServerStats>({ clock, max: 1 })

  async function read(): Promise<ServerStats> {
    const now = clock.now()
    const [[totals], redundancy, activities] = await Promise.all([
      db.query<ServerTotals>(TOTALS, [await instanceActorId(), now]),
      redundancyStats(db, config().redundancy.videos.strategies),
      activityTotals(db, now),
    ])
    if (!totals) throw new Error('The totals of the server are one row.')
    return { totals, redundancy, activities }
  }

  return {
    /** At most half a minute old. Three statements. */
    recent(): Promise<ServerStats> {
      return kept.get('stats', KEEP_MS, read)
    },
  }
}

/** SQL for the number of rows of local accounts: they are few among all, and each is looked up in an index. */
const ofLocal = (rows: string): string =>
  `(select coalesce(sum((select count(*) from ${rows})), 0) from account a where a.user_id is not null)`

/** SQL for the visible comments of local users. */
export const localCommentCount = ofLocal('comment c where c.account_id = a.id and c.deleted_at is null and not c.held_for_review')

const PUBLIC = `v.privacy in ${LISTED_PRIVACIES} and ${isPublic('v')} and v.listed`
const since = (column: string, interval: string): string => `${column} > $2::timestamptz - interval '${interval}'`
const average = (rows: string): string => `avg(extract(epoch from ${rows}.processed_at - ${rows}.created_at) * 1000)::float8`
const follows = (end: 'target_id' | 'follower_id'): string => `(select count(*)::int from follow where ${end} = $1 and state = 'accepted')`

const TOTALS = `
  select u.*, s.*, b.*, g.*, k.*,
    ${totalVideos(`local and ${PUBLIC_VIDEOS}`)} as "localVideos", ${totalVideos(PUBLIC_VIDEOS)} as videos,
    ${localCommentCount}::int as "localVideoComments", ${totalComments(false)} as "videoComments",
    ${ofLocal("channel c where c.account_id = a.id and c.state = 'active'")}::int as "localVideoChannels",
    ${ofLocal(`playlist p where p.account_id = a.id and p.privacy = ${playlistPrivacies.public}`)}::int as "localPlaylists",
    ${follows('target_id')} as "instanceFollowers", ${follows('follower_id')} as "instanceFollowing"
  from (
    select count(*)::int as users, count(*) filter (where role = ${userRoles.administrator})::int as admins,
      count(*) filter (where role = ${userRoles.moderator})::int as moderators,
      count(*) filter (where ${since('last_login_at', '1 day')})::int as "dailyActiveUsers",
      count(*) filter (where ${since('last_login_at', '7 days')})::int as "weeklyActiveUsers",
      count(*) filter (where ${since('last_login_at', '30 days')})::int as "monthlyActiveUsers"
    from users where state <> 'deleted'
  ) u, (
    select coalesce(sum(views), 0)::float8 as "localVideoViews", coalesce(sum(files_size), 0)::float8 as "localVideoFilesSize"
    from video where not remote and state <> 'removed'
  ) s, (
    select count(*)::int as abuses, count(*) filter (where state <> 'pending')::int as "abusesProcessed",
      ${average('abuse')} as "abuseResponseMs" from abuse
  ) b, (
    select count(*)::int as "registrationRequests",
      count(*) filter (where state in ('accepted', 'rejected'))::int as "registrationRequestsProcessed",
      ${average('registration')} as "registrationResponseMs" from registration
  ) g, (
    select count(distinct v.channel_id)::int as "monthlyActiveChannels",
      count(distinct v.channel_id) filter (where ${since('v.published_at', '7 days')})::int as "weeklyActiveChannels",
      count(distinct v.channel_id) filter (where ${since('v.published_at', '1 day')})::int as "dailyActiveChannels"
    from video v where not v.remote and ${PUBLIC} and ${since('v.published_at', '30 days')}
  ) k`
