// Refreshes stale remote videos by a job when somebody views them. The viewer never waits.

import { makeLru } from '../../../platform/lru.ts'
import type { ActorDeps } from '../../runtime/index.ts'

/** Reports a view of a video. Returns at once and never throws. */
export type LookedAt = (video: { id: number; remote: boolean; refreshed_at: Date | null }) => void

/** Pause before an unreachable server is asked again, in ms. */
const PAUSE = 3_600_000
/** How long this process remembers a queued refresh, in ms. */
const REMEMBER = 60_000

export function makeLookedAt({ tell, clock, config, logger }: ActorDeps): LookedAt {
  const asked = makeLru<number, true>(10_000, { ttl: REMEMBER })

  async function ask(videoId: number, notBefore: Date): Promise<void> {
    await tell.create(async (unit) => {
      const rows = await unit.query(
        `update video set refresh_tried_at = $3
         where id = $1 and remote and state <> 'removed' and (refreshed_at is null or refreshed_at < $2)
           and (refresh_tried_at is null or refresh_tried_at < $4) returning id`,
        [videoId, notBefore, unit.now, new Date(unit.now.getTime() - PAUSE)],
      )
      if (rows.length === 0) return
      unit.enqueue({ type: 'activitypub-refresher', data: { videoId }, dedupeKey: `refresh-video-${videoId}` })
    })
  }

  return ({ id, remote, refreshed_at }) => {
    if (!remote || asked.has(id)) return
    const notBefore = new Date(clock.now().getTime() - config().vireo.federation.refresh.video)
    if (refreshed_at !== null && refreshed_at >= notBefore) return
    asked.set(id, true)
    ask(id, notBefore).catch((error: unknown) => logger.warn({ err: error, video: id }, 'a refresh could not be queued'))
  }
}
