// Views that other servers report: believed within limits, since nobody can prove them.

import type { Columns } from '../../platform/database/index.ts'
import { claimOnce } from '../incoming-activity/index.ts'
import { type ActorDeps, DomainError, notFound, type Unit } from '../runtime/index.ts'
import { addDelta, isOpen } from '../video/index.ts'
import type { Video } from '../video/video.entity.ts'
import { countViewers } from './count-viewers.ts'
import { countViews } from './fold-signs.ts'
import { type Section, watchedSeconds } from './watching.ts'

/** The video, and the reporting server. The caller has checked that it may report. */
export interface ReportedBy {
  videoId: number
  hostId: number
}

export interface RemoteWatch {
  url: string
  uuid: string
  startedAt: Date
  endedAt: Date
  sections: Section[]
  country: string | null
  subdivision: string | null
}

const QUOTA_MS = 3_600_000
/** Per viewer: a day. */
const MAX_SECONDS = 86_400

export function makeRemoteViews({ tell, config }: ActorDeps) {
  return {
    /**
     * Current viewers until a time: one by name, or a count under a name; a repeated report replaces the previous one. Throws `not_found`,
     * and `forbidden` for a private video.
     */
    async receiveViewers(report: ReportedBy & { viewer: string; viewers: number; expiresAt: Date }): Promise<void> {
      const { videoId, hostId, viewer, viewers, expiresAt } = report
      const settings = config()
      const { max_remote_viewers } = settings.vireo.views
      await tell.create(async (unit) => {
        await openVideo(unit, videoId)
        const latest = new Date(unit.now.getTime() + 2 * settings.vireo.lifetimes.viewer_counter)
        if (expiresAt <= unit.now) return
        // At most as many rows as viewers are believed: more names neither add viewers nor take space.
        await unit.query(
          `insert into remote_viewer (video_id, host_id, viewer, viewers, expires_at)
           select $1, $2, md5($3)::uuid, least($4::bigint, $5::int), least($6::timestamptz, $7)
           where exists (select 1 from remote_viewer where video_id = $1 and host_id = $2 and viewer = md5($3)::uuid)
             or (select count(*) from remote_viewer where video_id = $1 and host_id = $2) < $5
           on conflict (video_id, host_id, viewer) do update
             set viewers = excluded.viewers, expires_at = excluded.expires_at`,
          [videoId, hostId, viewer, viewers, max_remote_viewers, expiresAt, latest],
        )
        // The first one is visible at once; later ones are counted periodically, so that no row is hot.
        const isFirst = await unit.query('insert into viewing (video_id) values ($1) on conflict do nothing returning video_id', [videoId])
        if (isFirst.length > 0) await countViewers(unit, { settings, videoIds: [videoId] })
      })
    },

    /** Views on that server, or counted by the video's own server; once per activity. Throws like above. */
    async receiveViews({ videoId, hostId, views, incomingId }: ReportedBy & { views: number; incomingId: number | null }): Promise<void> {
      const { vireo } = config()
      await tell.create(async (unit) => {
        const { remote } = await openVideo(unit, videoId)
        if (incomingId !== null && !(await claimOnce(unit.query, incomingId))) return
        const believed = await withinQuota(unit, { videoId, hostId }, 'views', views, vireo.views.max_remote_views)
        if (believed === 0) return
        if (remote) await addDelta(unit, videoId, { views: believed })
        else await countViews(unit, [{ videoId, views: believed }], vireo.schedulers.video_views_buffer_update)
      })
    },

    /** What a remote viewer watched of a local video. Idempotent. Throws like above. */
    async receiveWatch({ videoId, hostId, ...watch }: ReportedBy & RemoteWatch): Promise<void> {
      const { vireo, geo_ip } = config()
      await tell.create(async (unit) => {
        const { remote, duration } = await openVideo(unit, videoId)
        if (remote) throw new DomainError('forbidden', 'This video is of another server.')
        const sections = watch.sections
          .filter(([start, end]) => end > start && (duration === 0 || end <= duration + 1))
          .slice(0, vireo.views.max_watch_sections)
        const seconds = Math.min(watchedSeconds(sections), MAX_SECONDS)
        if (seconds === 0) return
        const known = await unit.query('select 1 from watch where url_hash = md5($1)::uuid', [watch.url])
        if (known.length > 0) return
        if ((await withinQuota(unit, { videoId, hostId }, 'watches', 1, vireo.views.max_remote_views)) === 0) return
        await unit.query(
          `insert into watch (uuid, video_id, host_id, url, started_at, ended_at, seconds, sections, country, subdivision,
             created_at)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) on conflict (url_hash) do nothing`,
          [
            watch.uuid,
            videoId,
            hostId,
            watch.url,
            watch.startedAt,
            watch.endedAt,
            seconds,
            JSON.stringify(sections),
            geo_ip.enabled ? watch.country : null,
            geo_ip.enabled ? watch.subdivision : null,
            unit.now,
          ],
        )
      })
    },
  }
}

/** How many of these count, given the reports of that server about the video within the hour. */
async function withinQuota(
  unit: Unit,
  { videoId, hostId }: ReportedBy,
  what: 'views' | 'watches',
  wanted: number,
  most: number,
): Promise<number> {
  const past = new Date(unit.now.getTime() - QUOTA_MS)
  await unit.query(
    `insert into remote_view_quota (video_id, host_id, since) values ($1, $2, $3)
     on conflict (video_id, host_id) do update set since = excluded.since, views = 0, watches = 0
       where remote_view_quota.since <= $4`,
    [videoId, hostId, unit.now, past],
  )
  const [row] = await unit.query<{ before: number }>(
    `select ${what} as before from remote_view_quota where video_id = $1 and host_id = $2 for no key update`,
    [videoId, hostId],
  )
  const taken = Math.max(0, Math.min(wanted, most - (row?.before ?? 0)))
  if (taken > 0) {
    await unit.query(`update remote_view_quota set ${what} = ${what} + $3 where video_id = $1 and host_id = $2`, [videoId, hostId, taken])
  }
  return taken
}

/** The video, locked until this is stored. */
async function openVideo(unit: Unit, videoId: number): Promise<{ remote: boolean; duration: number }> {
  const [video] = await unit.query<Columns<Video, 'remote' | 'privacy' | 'blocked' | 'duration'>>(
    "select remote, privacy, blocked, duration from video where id = $1 and state <> 'removed' for key share",
    [videoId],
  )
  if (!video) throw notFound('Video not found')
  if (!isOpen(video)) throw new DomainError('forbidden', 'This video is not public.')
  return video
}
