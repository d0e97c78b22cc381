// Asks for the torrents of a local video, and for the names of its playlist's swarms.

import type { Config } from '../../config/index.ts'
import type { Unit } from '../runtime/index.ts'

/**
 * In the transaction that gives the video files, or changes what torrents say of it: its name, its addresses. The job does
 * nothing where all is right already; two may wait, so that one which is just ending does not stand in for the next.
 */
export function askForTorrents(
  unit: Unit,
  videoId: number,
  config: Pick<Config, 'tracker'>,
  action: 'create' | 'update-metadata' = 'create',
): void {
  if (config.tracker.enabled) unit.enqueue({ type: 'manage-video-torrent', data: { action, videoId } })
}
