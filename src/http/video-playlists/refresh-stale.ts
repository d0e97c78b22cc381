// Refreshes stale remote playlists when somebody views them.

import type { RemotePlaylists } from '../../actors/playlist/index.ts'
import type { Config } from '../../config/index.ts'
import type { Clock } from '../../platform/clock.ts'

/** Queues a job if the playlist is stale; the viewer does not wait for it. */
export type RefreshStale = (playlist: { id: number; remote: boolean; refreshedAt: Date | null }) => Promise<void>

export function makeRefreshStale(deps: {
  config: () => Config
  clock: Clock
  remotePlaylists: Pick<RemotePlaylists, 'askToRead'>
}): RefreshStale {
  const { config, clock, remotePlaylists } = deps
  return async ({ id, remote, refreshedAt }) => {
    const age = clock.now().getTime() - (refreshedAt?.getTime() ?? 0)
    if (remote && age > config().vireo.federation.refresh.playlist) await remotePlaylists.askToRead(id)
  }
}
