// A transcoding that a worker has leased, as it works on it.

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
