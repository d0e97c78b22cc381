// Queues the job that makes the torrents of a local video and names the swarms of its playlist.

import type { Config } from '../../../config/index.ts'
import type { Unit } from '../../runtime/index.ts'

/**
 * Runs in the transaction that gives the video files or changes what torrents contain: its name or its addresses. The job does nothing if
 * all torrents are up to date. Two jobs may wait: one that is about to end cannot stand in for the next.
 */
export function queueTorrents(
  unit: Unit,
  videoId: number,
  config: Pick<Config, 'tracker'>,
  action: 'create' | 'update-metadata' = 'create',
): void {
  if (config.tracker.enabled) unit.enqueue({ type: 'manage-video-torrent', data: { action, videoId } })
}
