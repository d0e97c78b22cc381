// Ends the watching of viewers that left: what they watched becomes a row of the statistics.

import type { Aliased } from '../../platform/database/index.ts'
import { newUuid } from '../../platform/ids.ts'
import type { ActorDeps, Unit } from '../runtime/index.ts'
import type { Viewer, Watch } from './view.entity.ts'
import { watchedSeconds } from './watching.ts'

interface GoneRow extends Aliased<typeof Viewer, 'id' | 'videoId' | 'startedAt' | 'seenAt' | 'sections'> {
  remote: boolean
}

export const ENDED_AT_ONCE = 500

/**
 * Processes some viewers without a recent sign. Those whose next view does not count for a while are stored as a hash for that time.
 * Returns how many there were.
 */
export async function endWatching(deps: Pick<ActorDeps, 'db' | 'tell' | 'config' | 'clock' | 'urls'>): Promise<number> {
  const { db, tell, config, clock, urls } = deps
  const { vireo, views } = config()
  const seenBefore = new Date(clock.now().getTime() - vireo.lifetimes.viewer_stats)
  const old = await db.query('select from viewer where seen_at <= $1 order by seen_at limit 1', [seenBefore])
  if (old.length === 0) return 0
  return await tell.create(async (unit) => {
    const now = unit.now.getTime()
    const gone = await unit.query<GoneRow>(
      `select w.id, w.video_id as "videoId", v.remote, w.sections, w.started_at as "startedAt", w.seen_at as "seenAt"
       from viewer w join video v on v.id = w.video_id
       where w.seen_at <= $1 and w.started_at is not null order by w.seen_at limit ${ENDED_AT_ONCE}
       for no key update of w skip locked`,
      [new Date(now - vireo.lifetimes.viewer_stats)],
    )
    await storeWatches(unit, gone, urls.watchAction)
    if (gone.length > 0) {
      await unit.query("update viewer set sections = '[]', started_at = null where id = any($1::bigint[])", [gone.map(({ id }) => id)])
    }
    await unit.query(`delete from viewer where started_at is null and seen_at <= $1 and (counted_at is null or counted_at <= $2)`, [
      new Date(now - vireo.lifetimes.viewer_stats),
      new Date(now - views.videos.view_expiration),
    ])
    return gone.length
  })
}

async function storeWatches(unit: Unit, gone: GoneRow[], urlOf: (uuid: string) => string): Promise<void> {
  const watches = gone.flatMap(({ videoId, remote, sections: all, startedAt, seenAt }) => {
    const sections = all.filter(([start, end]) => end > start)
    const seconds = watchedSeconds(sections)
    const uuid = newUuid()
    return seconds === 0 ? [] : [{ uuid, videoId, remote, url: urlOf(uuid), startedAt, seenAt, seconds, sections }]
  })
  if (watches.length === 0) return
  const stored = await unit.query<Aliased<typeof Watch, 'videoId'> & { watchId: number; remote: boolean }>(
    `insert into watch (uuid, video_id, of_remote, url, started_at, ended_at, seconds, sections, created_at)
     select uuid, "videoId", remote, url, coalesce("startedAt", "seenAt"), "seenAt", seconds, sections, $2
     from jsonb_to_recordset($1) as w (uuid uuid, "videoId" int, remote boolean, url text, "startedAt" timestamptz,
       "seenAt" timestamptz, seconds int, sections jsonb)
     returning id as "watchId", video_id as "videoId", of_remote as remote`,
    [JSON.stringify(watches), unit.now],
  )
  for (const { watchId, videoId, remote } of stored) {
    if (remote) unit.emit({ aggregate: 'video', id: videoId }, 'WatchEnded', { watchId, videoId })
  }
}
