// Moves of an upload through its machine, who holds it, and which files are its own.

import type { FileRef, Store } from '../../media/index.ts'
import {
  dueIn,
  type ResumableUploadContext,
  type ResumableUploadEvent,
  type ResumableUploadState,
  resumableUploadMachine,
} from '../../state-machines/resumable-upload.ts'
import { IllegalMove, step } from '../../state-machines/step.ts'
import { type ActorDeps, DomainError, type Unit } from '../runtime/index.ts'
import type { UserImports } from '../user-import/index.ts'
import type { CreateVideo, Leases, PendingFile, PendingFiles, PictureName, ReplaceSource } from '../video/index.ts'
import type { Upload } from './upload.entity.ts'

export type UploadDeps = ActorDeps & {
  store: Store
  createVideo: CreateVideo
  replaceSource: ReplaceSource
  pendingFiles: PendingFiles
  leases: Leases
  userImports: Pick<UserImports, 'assertPossible' | 'begin' | 'uploaded' | 'notUploaded'>
}

/** Sends one event to the machine of an upload; `silence` in ms is how long it may stay so. */
export function moveUpload(unit: Unit, upload: Upload, event: ResumableUploadEvent, silence: number): void {
  const from: ResumableUploadContext = { size: upload.size, received: upload.received }
  try {
    const { state, context } = step(
      resumableUploadMachine,
      { state: upload.state as ResumableUploadState, context: from },
      event,
    )
    upload.state = state
    upload.context = { ...context }
    upload.received = context.received
    upload.size = context.size
    const wait = dueIn(state, context, { session_lifetime: silence })
    upload.dueAt = wait === null ? null : new Date(unit.now.getTime() + wait)
    upload.updatedAt = unit.now
  } catch (error) {
    if (!(error instanceof IllegalMove)) throw error
    throw new DomainError('not_found', 'This upload has ended.', { cause: error })
  }
}

export const isOpen = (state: string): boolean => ['created', 'receiving', 'assembled'].includes(state)

/** Whether a living request has the upload. */
export const isHeld = ({ leaseOwner, leaseUntil }: Upload, now: Date, leases: Leases): boolean =>
  Boolean(leaseOwner && leaseUntil && leaseUntil > now && !leases.isGone(leaseOwner))

/** The bytes received so far. */
export const uploadFile = (token: string): FileRef => ({ kind: 'uploads', name: token })

/** A picture that came with the metadata, kept until the file is complete. */
export const pictureFile = (token: string, name: PictureName): FileRef => ({
  kind: 'uploads',
  name: `${token}-${name}.jpg`,
})

/** All files that the upload may have. */
export const filesOf = ({ token, place }: Pick<Upload, 'token' | 'place'>): PendingFile[] => [
  uploadFile(token),
  pictureFile(token, 'thumbnail'),
  pictureFile(token, 'preview'),
  ...(place ? [place] : []),
]
