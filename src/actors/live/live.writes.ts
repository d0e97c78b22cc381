// Writes of lives in the transactions of other nouns.

import type { Unit } from '../runtime/index.ts'
import type { LatencyMode } from './live.entity.ts'

export interface RemoteLive {
  saveReplay: boolean
  isPermanent: boolean
  latencyMode: LatencyMode
}

/** Stores what a remote server says of a live; null for a video that is none. */
export async function replaceRemoteLive(unit: Unit, videoId: number, live: RemoteLive | null): Promise<void> {
  if (live === null) {
    await unit.query('delete from video_live where video_id = $1', [videoId])
    return
  }
  await unit.query(
    `insert into video_live (video_id, save_replay, permanent_live, latency_mode, created_at, updated_at)
     values ($1, $2, $3, $4, $5, $5)
     on conflict (video_id) do update set save_replay = excluded.save_replay,
       permanent_live = excluded.permanent_live, latency_mode = excluded.latency_mode, updated_at = excluded.updated_at`,
    [videoId, live.saveReplay, live.isPermanent, live.latencyMode, unit.now],
  )
}
