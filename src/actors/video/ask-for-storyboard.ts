// Asks for the storyboard of a local video.

import type { Config } from '../../config/index.ts'
import type { Unit } from '../runtime/index.ts'

/**
 * In the transaction that gives the video its files. The job does nothing when there is a storyboard already; two jobs may
 * wait, so that one which is just ending with the file of before does not stand in for the next.
 */
export function askForStoryboard(unit: Unit, videoId: number, config: Pick<Config, 'storyboards'>): void {
  if (config.storyboards.enabled) unit.enqueue({ type: 'generate-video-storyboard', data: { videoId } })
}
