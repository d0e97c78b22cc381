// Reports viewers and views periodically: one message per video and interval, however many watch.

import type { ActorDeps } from '../runtime/index.ts'
import { currentViewers } from '../video/index.ts'

interface DueReport {
  videoId: number
  remote: boolean
  /** For a local video including reported ones; for a remote video only local ones. */
  viewers: number
  views: number
}

export const REPORTED_AT_ONCE = 500

/** A quarter of a count's validity: it is reported at every second step, so that views have a step of their own. */
export const reportEveryMs = (viewerCounterMs: number): number => Math.max(1, Math.floor(viewerCounterMs / 4))

/** Claims the videos with a due report; safe to run concurrently. Returns how many. */
export async function reportViewers(deps: Pick<ActorDeps, 'db' | 'tell' | 'config' | 'clock'>): Promise<number> {
  const { db, tell, config, clock } = deps
  const { viewer_counter } = config().vireo.lifetimes
  const stepMs = reportEveryMs(viewer_counter)
  const open = await db.query(
    `select from viewing where (told_at is null or told_at <= $1) and (untold_views > 0 or viewers + told_viewers > 0) limit 1`,
    [new Date(clock.now().getTime() - stepMs)],
  )
  if (open.length === 0) return 0
  return await tell.create(async (unit) => {
    const at = unit.now.getTime()
    const rows = await unit.query<DueReport>(
      `with open as materialized (
         select w.video_id, w.untold_views,
           w.viewers + w.told_viewers > 0 and (w.viewers_told_at is null or w.viewers_told_at <= $1) as is_count_due
         from viewing w where w.told_at is null or w.told_at <= $2
       ), due as materialized (
         select o.video_id, o.untold_views, o.is_count_due from viewing w join open o on o.video_id = w.video_id
         where o.is_count_due or o.untold_views > 0
         order by w.video_id limit ${REPORTED_AT_ONCE} for no key update of w skip locked
       )
       update viewing w set told_at = $3,
         viewers_told_at = case when due.is_count_due then $3 else w.viewers_told_at end,
         untold_views = case when due.is_count_due then w.untold_views else w.untold_views - due.untold_views end
       from due join video v on v.id = due.video_id
       where w.video_id = due.video_id and (w.told_at is null or w.told_at <= $2)
       returning w.video_id as "videoId", v.remote,
         case when due.is_count_due then 0 else due.untold_views end as views,
         case when not due.is_count_due then 0 when v.remote then w.viewers else ${currentViewers('v', 'w')} end as viewers`,
      [new Date(at - 2 * stepMs), new Date(at - stepMs), unit.now],
    )
    for (const { videoId, remote, viewers, views } of rows) {
      const of = { aggregate: 'video', id: videoId } as const
      if (viewers > 0) unit.emit(of, 'ViewersCounted', { videoId, viewers, expiresAt: at + viewer_counter })
      if (remote && views > 0) unit.emit(of, 'ViewsCounted', { videoId, views, at })
    }
    return rows.length
  })
}
