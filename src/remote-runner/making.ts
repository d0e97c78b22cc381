// What each kind of work of a runner gets, and what it returns.

import { join } from 'node:path'
import type { Ffmpeg, RunLimits } from '../media/index.ts'
import type { AcceptedJob, JobReports } from './protocol.ts'

export interface Making {
  ffmpeg: Ffmpeg
  limits: RunLimits
  threads: number
  /** Of this job alone. */
  folder: string
  signal: AbortSignal
  /** Per cent. */
  progress(percent: number): void
}

/** Does a job: returns the paths of the result, by the fields of the protocol. Throws MediaError. */
export type Make = (job: AcceptedJob, reports: Pick<JobReports, 'download' | 'part'>, making: Making) => Promise<Record<string, string>>

/** Downloads inputs into the folder of the job; returns their paths. */
export const downloadsInto =
  ({ download }: Pick<JobReports, 'download'>, { folder, signal }: Making) =>
  async (url: string, name: string): Promise<string> => {
    const path = join(folder, name)
    await download(url, path, signal)
    return path
  }
