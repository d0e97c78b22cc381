// When the files of a video stay where they are: a job that is stopped begins anew, and has to find then what it began with.

import { DomainError } from '../runtime/index.ts'

/** States in which a job makes files of those of the video, or takes them elsewhere. */
const WORKED_ON = ['to-transcode', 'to-edit', 'to-move-to-external-storage', 'to-move-to-file-system']

/** SQL: whether a job works on the files of the video `v`. */
export const isBeingProcessed = `(v.state in (${WORKED_ON.map((state) => `'${state}'`).join(', ')})
  or exists (select from transcoding t where t.video_id = v.id and t.state in ('planned', 'running', 'packaged', 'stored')))`

/** What is said to whoever would take a file away meanwhile. */
export const stillBeingProcessed = (): DomainError =>
  new DomainError('conflict', 'The files of this video are still being transcoded, edited or moved.')
