// A transcoding that a worker has leased, as it works on it.

import type { LadderSettings } from '../../media/index.ts'
import type { TranscodingOutputs } from './transcoding.entity.ts'
import type { MasterTask } from './write-master.ts'

/** A transcoding that a worker has leased. */
export interface Task extends MasterTask {
  owner: string
  uuid: string
  /** The original in the store; null if it is removed. */
  source: string | null
  /** The outputs that an administrator requested; null for the configured ones. */
  outputs: TranscodingOutputs | null
  /** True if the original stays, whatever the configuration says. */
  keepSource: boolean
  /** True if the video is published only when all renditions exist. */
  waits: boolean
  /** The still picture under a sound file. */
  preview: string | null
}

/** The configuration for this transcoding. A file made from a rendition keeps the size of that rendition, which would otherwise be lost. */
export function settingsFor({ outputs, source }: Task, configured: LadderSettings): LadderSettings {
  if (outputs === null) return configured
  return {
    ...configured,
    always_transcode_original_resolution: configured.always_transcode_original_resolution || source === null,
    hls: { ...configured.hls, enabled: outputs !== 'web-video' },
    web_videos: { enabled: outputs !== 'hls' },
  }
}
