// Current viewers of each video: local viewers seen recently, and those that other servers report.

import type { Config } from '../../config/index.ts'
import type { ActorDeps, Unit } from '../runtime/index.ts'

/** SQL: viewers that other servers report at `now`, for `v` of `video`; at most `most` per server count. */
const remoteViewers = (video: string, now: string, most: string): string =>
  `(select coalesce(sum(least(r.viewers, ${most}::int)), 0)::int from (
      select sum(viewers) as viewers from remote_viewer
      where video_id = ${video} and expires_at > ${now} group by host_id) r)`

/** Recounts the viewers of these videos, which are locked already or not visible to others yet. */
export async function countViewers(unit: Unit, { settings, videoIds }: { settings: Config; videoIds: number[] }): Promise<void> {
  await unit.query(
    `insert into viewing (video_id, viewers, told_viewers)
     select v.id, (select count(*)::int from viewer w where w.video_id = v.id and w.seen_at > $3),
       ${remoteViewers('v.id', '$2', '$4')}
     from video v where v.id = any($1::int[]) order by v.id
     on conflict (video_id) do update set viewers = excluded.viewers, told_viewers = excluded.told_viewers`,
    [videoIds, unit.now, new Date(unit.now.getTime() - settings.vireo.lifetimes.viewer_counter), mostOf(settings)],
  )
}

/** Recounts everywhere, since viewers leave without notice; deletes rows without viewers and pending reports. */
export async function recountViewers({ db, clock, config }: Pick<ActorDeps, 'db' | 'clock' | 'config'>): Promise<void> {
  const settings = config()
  const now = clock.now()
  const gone = new Date(now.getTime() - settings.vireo.lifetimes.viewer_counter)
  await db.query('delete from remote_viewer where expires_at <= $1', [now])
  await db.query(
    `with open as materialized (
       select video_id from viewing order by video_id for no key update skip locked
     )
     update viewing w set viewers = (select count(*)::int from viewer x where x.video_id = w.video_id and x.seen_at > $2),
       told_viewers = ${remoteViewers('w.video_id', '$1', '$3')}
     from open where open.video_id = w.video_id`,
    [now, gone, mostOf(settings)],
  )
  await db.query(
    `delete from viewing where viewers = 0 and told_viewers = 0 and untold_views = 0
       and (told_at is null or told_at < $1)`,
    [gone],
  )
}

const mostOf = (settings: Config): number => settings.vireo.views.max_remote_viewers
