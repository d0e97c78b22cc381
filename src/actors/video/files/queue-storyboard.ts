// Queues the job that makes the storyboard of a local video.

import type { Config } from '../../../config/index.ts'
import type { Unit } from '../../runtime/index.ts'

/**
 * Runs in the transaction that gives the video its files. The job does nothing if a storyboard exists. Two jobs may wait: one that is about
 * to end with the old file cannot stand in for the next.
 */
export function queueStoryboard(unit: Unit, videoId: number, config: Pick<Config, 'storyboards'>): void {
  if (config.storyboards.enabled) unit.enqueue({ type: 'generate-video-storyboard', data: { videoId } })
}
