// Tells when the files of a video must not move: a job that is stopped starts again and needs the files that it began with.

import { DomainError } from '../../runtime/index.ts'

/** States in which a job makes files from those of the video, or moves them. */
const WORKED_ON = ['to-transcode', 'to-edit', 'to-move-to-external-storage', 'to-move-to-file-system']

/** SQL: true if a job works on the files of the video `v`. */
export const isBeingProcessed = `(v.state in (${WORKED_ON.map((state) => `'${state}'`).join(', ')})
  or exists (select from transcoding t where t.video_id = v.id and t.state in ('planned', 'running', 'packaged', 'stored')))`

/** Refusal for a request that would remove such a file. */
export const stillBeingProcessed = (): DomainError =>
  new DomainError('conflict', 'The files of this video are still being transcoded, edited or moved.')
