// Folds players' reports into the viewers of each video: their watched parts, views, and current viewers. One process at a time folds, so
// that the signs of a viewer are processed in order.

import type { Aliased } from '../../platform/database/index.ts'
import { type ActorDeps, hasRows, type Unit } from '../runtime/index.ts'
import { addViews } from '../video/index.ts'
import type { Video } from '../video/video.entity.ts'
import { countViewers } from './count-viewers.ts'
import type { Viewer as ViewerEntity } from './view.entity.ts'
import { newViewer, type Viewer, type WatchRules, watched } from './watching.ts'

interface SignRow extends Aliased<typeof ViewerEntity, 'videoId' | 'viewer' | 'seenAt'>, Aliased<Video, 'remote' | 'duration' | 'isLive'> {
  seconds: number
  isSeek: boolean
}

type ViewerRow = Aliased<typeof ViewerEntity, 'videoId' | 'viewer' | 'startedAt' | 'seenAt' | 'countedAt' | 'sections'>

export const FOLDED_AT_ONCE = 5000
/** Any number that no other lock here has: "view" in ASCII. */
const FOLD_LOCK = 0x76696577

/** Processes the oldest signs. Returns how many; 0 also if another process is folding. */
export async function foldSigns({ db, tell, config }: Pick<ActorDeps, 'db' | 'tell' | 'config'>): Promise<number> {
  if (!(await hasRows(db, 'view_sign'))) return 0
  const settings = config()
  return await tell.create(async (unit) => {
    const [lock] = await unit.query<{ got: boolean }>('select pg_try_advisory_xact_lock($1) as got', [FOLD_LOCK])
    if (!lock?.got) return 0
    const { taken, signs } = await takeSigns(unit)
    if (signs.length === 0) return taken

    const viewers = await viewersOf(unit, signs)
    const views = new Map<number, number>()
    for (const sign of signs) {
      const key = keyOf(sign)
      const rules: WatchRules = {
        duration: sign.isLive ? null : sign.duration,
        countAfterMs: settings.views.videos.count_view_after,
        expirationMs: settings.views.videos.view_expiration,
        maxSections: settings.vireo.views.max_watch_sections,
      }
      const before = viewers.get(key) ?? newViewer(sign.seenAt)
      const { viewer, isView } = watched(before, { ...sign, at: sign.seenAt }, rules)
      viewers.set(key, viewer)
      if (isView) views.set(sign.videoId, (views.get(sign.videoId) ?? 0) + 1)
    }
    await storeViewers(unit, viewers)

    const remote = new Map(signs.map((sign) => [sign.videoId, sign.remote]))
    await countViewers(unit, { settings, videoIds: [...remote.keys()] })
    const viewed = [...views].map(([videoId, count]) => ({ videoId, views: count }))
    await keepForTheirServers(
      unit,
      viewed.filter(({ videoId }) => remote.get(videoId)),
    )
    await countViews(
      unit,
      viewed.filter(({ videoId }) => !remote.get(videoId)),
      settings.vireo.schedulers.video_views_buffer_update,
    )
    return taken
  })
}

/** Signs of removed videos are deleted, too. */
async function takeSigns(unit: Unit): Promise<{ taken: number; signs: SignRow[] }> {
  const rows = await unit.query<SignRow & { known: boolean }>(
    `with taken as (
       delete from view_sign where id in (select id from view_sign order by id limit ${FOLDED_AT_ONCE}) returning *
     ), held as materialized (
       select id, remote, duration, is_live from video
       where id in (select video_id from taken) and state <> 'removed' for key share
     )
     select t.video_id as "videoId", t.viewer, t.seconds, t.is_seek as "isSeek", t.seen_at as "seenAt",
       v.id is not null as known, v.remote, v.duration, v.is_live as "isLive"
     from taken t left join held v on v.id = t.video_id order by t.id`,
  )
  return { taken: rows.length, signs: rows.filter(({ known }) => known) }
}

const keyOf = ({ videoId, viewer }: { videoId: number; viewer: string }): string => `${videoId} ${viewer}`

async function viewersOf(unit: Unit, signs: SignRow[]): Promise<Map<string, Viewer>> {
  const rows = await unit.query<ViewerRow>(
    `select w.video_id as "videoId", w.viewer, w.sections, w.started_at as "startedAt", w.seen_at as "seenAt",
       w.counted_at as "countedAt"
     from viewer w join (select distinct * from unnest((select $1::int[]), (select $2::uuid[])) s (video_id, viewer)) s
       on s.video_id = w.video_id and s.viewer = w.viewer
     order by w.video_id, w.viewer for no key update of w`,
    [signs.map(({ videoId }) => videoId), signs.map(({ viewer }) => viewer)],
  )
  return new Map(rows.map(({ videoId, viewer, ...rest }): [string, Viewer] => [keyOf({ videoId, viewer }), rest]))
}

async function storeViewers(unit: Unit, viewers: Map<string, Viewer>): Promise<void> {
  const rows = [...viewers].map(([key, viewer]) => {
    const [videoId, hash] = key.split(' ')
    return { video_id: Number(videoId), viewer: hash, sections: viewer.sections, ...timesOf(viewer) }
  })
  await unit.query(
    `insert into viewer (video_id, viewer, sections, started_at, seen_at, counted_at)
     select video_id, viewer, sections, started_at, seen_at, counted_at
     from jsonb_to_recordset($1::jsonb) as w (video_id int, viewer uuid, sections jsonb, started_at timestamptz,
       seen_at timestamptz, counted_at timestamptz)
     order by video_id, viewer
     on conflict (video_id, viewer) do update set sections = excluded.sections, started_at = excluded.started_at,
       seen_at = excluded.seen_at, counted_at = excluded.counted_at`,
    [JSON.stringify(rows)],
  )
}

const timesOf = ({ startedAt, seenAt, countedAt }: Viewer) => ({
  started_at: startedAt,
  seen_at: seenAt,
  counted_at: countedAt,
})

export interface Viewed {
  videoId: number
  views: number
}

/** Visible in the counters at once; followers get all new views of an interval together. */
export async function countViews(unit: Unit, viewed: readonly Viewed[], tellAfterMs: number | null): Promise<void> {
  if (viewed.length === 0) return
  await addViews(unit, viewed)
  for (const { videoId } of viewed) {
    unit.enqueue({
      type: 'federate-video',
      data: { videoId },
      dedupeKey: `federate-views-${videoId}`,
      delayMs: tellAfterMs ?? 0,
    })
  }
}

async function keepForTheirServers(unit: Unit, viewed: readonly Viewed[]): Promise<void> {
  if (viewed.length === 0) return
  await unit.query(
    `insert into viewing (video_id, untold_views)
     select video_id, views from unnest((select $1::int[]), (select $2::int[])) as w (video_id, views) order by video_id
     on conflict (video_id) do update set untold_views = viewing.untold_views + excluded.untold_views`,
    [viewed.map(({ videoId }) => videoId), viewed.map(({ views }) => views)],
  )
}
