// Watching: players report positions, which are counted and reported periodically.

import type { ActorDeps } from '../runtime/index.ts'
import { recountViewers } from './count-viewers.ts'
import { ENDED_AT_ONCE, endWatching } from './end-watching.ts'
import { FOLDED_AT_ONCE, foldSigns } from './fold-signs.ts'
import { makeRemoteViews } from './remote-views.ts'
import { REPORTED_AT_ONCE, reportEveryMs, reportViewers } from './report-viewers.ts'
import { makeSignBuffer } from './sign-buffer.ts'
import { forgetSalts, makeViewerHash, type Watcher } from './viewer-hash.ts'

const LOOK_EVERY_MS = 1000
const QUOTAS_MS = 3_600_000

export type Views = ReturnType<typeof makeViews>

export function makeViews(deps: ActorDeps) {
  const { db, registry, clock, config } = deps
  const store = makeSignBuffer(deps)
  const hashOf = makeViewerHash(deps)

  // An incomplete batch waits for the next run: new signs arrive all the time.
  const fold = async () => {
    while ((await foldSigns(deps)) === FOLDED_AT_ONCE);
  }
  const reportAll = async () => {
    while ((await reportViewers(deps)) === REPORTED_AT_ONCE);
  }
  const endAll = async () => {
    while ((await endWatching(deps)) === ENDED_AT_ONCE);
  }
  const recount = async () => {
    await recountViewers(deps)
    await forgetSalts(db, clock.now())
  }

  registry.periodic('fold-views', { everyMs: () => config().vireo.runtime.counters_interval, run: fold })
  registry.periodic('count-viewers', {
    everyMs: () => config().vireo.views.buffer_sync_interval,
    run: recount,
  })
  registry.periodic('tell-viewers', {
    everyMs: () => Math.min(LOOK_EVERY_MS, reportEveryMs(config().vireo.lifetimes.viewer_counter)),
    run: reportAll,
  })
  registry.periodic('end-watching', { everyMs: () => LOOK_EVERY_MS, run: endAll })
  registry.periodic('remove-old-views', {
    everyMs: () => config().vireo.schedulers.remove_old_views,
    run: removeOldViews,
  })

  return {
    ...makeRemoteViews(deps),
    /** A player is at this second of a video that its viewer may see. Resolves when it is stored. */
    async watch(sign: { videoId: number; watcher: Watcher; seconds: number; isSeek: boolean }): Promise<void> {
      const { videoId, watcher, seconds, isSeek } = sign
      const viewer = await hashOf(videoId, watcher, config().views.videos.trust_viewer_session_id)
      await store({ videoId, viewer, seconds, isSeek, seenAt: clock.now() })
    },
    /** Runs the periodic work now. */
    async process(): Promise<void> {
      await fold()
      await recount()
      await endAll()
      await reportAll()
    },
  }

  async function removeOldViews(): Promise<void> {
    const now = clock.now()
    await db.query('delete from remote_view_quota where since <= $1', [new Date(now.getTime() - QUOTAS_MS)])
    const { max_age } = config().views.videos.remote
    if (max_age === null || max_age < 0) return
    await db.query('delete from watch where of_remote and created_at <= $1', [new Date(now.getTime() - max_age)])
  }
}
