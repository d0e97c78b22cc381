// State changes of an upload, its lease, and its files.

import type { FileRef, Store } from '../../media/index.ts'
import { dueIn, initialResumableUpload, type ResumableUploadState, resumableUploadMachine } from '../../state-machines/resumable-upload.ts'
import { type ActorDeps, DomainError, defineLifecycle } from '../runtime/index.ts'
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

export const uploadLifecycle = defineLifecycle({
  table: 'upload',
  machine: resumableUploadMachine,
  initial: initialResumableUpload(0),
  /** `silence` in ms is how long an idle upload is kept. */
  dueIn: (state, context, silence: number) => dueIn(state, context, { session_lifetime: silence }),
  read: ({ state, size, received }: Upload) => ({ state: state as ResumableUploadState, context: { size, received } }),
  columns: ({ state, context }) => ({ state, context, ...context }),
  refusal: () => new DomainError('not_found', 'This upload has ended.'),
})

export const isOpen = (state: string): boolean => ['created', 'receiving', 'assembled'].includes(state)

/** True if a living request holds the lease. */
export const isLeased = ({ leaseOwner, leaseUntil }: Upload, now: Date, leases: Leases): boolean =>
  Boolean(leaseOwner && leaseUntil && leaseUntil > now && !leases.isGone(leaseOwner))

/** The bytes received so far. */
export const uploadFile = (token: string): FileRef => ({ kind: 'uploads', name: token })

/** A picture that was sent with the metadata, stored until the file is complete. */
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
