// An edition as its worker sees it, and the steps that this server takes whoever makes its file.

import { type EditVideoOptions, type editVideo, type Ffmpeg, MediaError, type Store } from '../../media/index.ts'
import type { RemoteWorks } from '../runner/index.ts'
import { type ActorDeps, DomainError, type LeasedRow, type RowLeases, type Unit } from '../runtime/index.ts'
import type { SourceFile } from '../transcoding/index.ts'
import type { InspectFile, Leases, PendingFiles, ReplaceSource } from '../video/index.ts'
import type { Video } from '../video/video.entity.ts'
import type { NewTask } from './studio.commands.ts'

export type EditionDeps = ActorDeps & {
  store: Store
  ffmpeg: Ffmpeg
  pendingFiles: PendingFiles
  leases: Leases
  inspectFile: Pick<InspectFile, 'place' | 'discard'>
  replaceSource: Pick<ReplaceSource, 'inspect' | 'edited'>
  works: RemoteWorks
}

export interface Edition {
  id: number
  videoId: number
  uuid: string
  /** The original in the store, if it is retained. */
  kept: string | null
  /** True if the original has only sound. */
  isSound: boolean
  inputFilename: string
  tasks: { name: NewTask['name']; start: number | null; end: number | null; filename: string | null }[]
}

/** An edition that a worker has leased. */
export type Task = Edition & LeasedRow

/** What another machine may do instead of this one. */
export interface EditionSteps {
  rowLeases: RowLeases
  /** Undefined if it has ended. */
  find(id: number): Promise<Edition | undefined>
  claim(id: number): Promise<Task | undefined>
  withOwned(task: Task, work: (unit: Unit, video: Video) => Promise<void>): Promise<void>
  withInputs<T>(task: Task, source: SourceFile, signal: AbortSignal, work: (inputs: Inputs) => Promise<T>): Promise<T>
  sourceOf(edition: Edition): Promise<SourceFile>
  /** Replaces the file of the video; `done` runs in the same transaction. */
  storeResult(task: Task, made: Made, signal: AbortSignal, done?: (unit: Unit) => Promise<void>): Promise<void>
  fail(id: number, error: string): Promise<void>
}

export type Inputs = Pick<EditVideoOptions, 'picture' | 'sound' | 'tasks'>
export type Made = Awaited<ReturnType<typeof editVideo>>

/** True if a retry would fail in the same way. */
export const isFinal = (error: unknown): error is Error =>
  (error instanceof MediaError && error.reason !== 'disk-full') ||
  (error instanceof DomainError && ['too_large', 'unprocessable', 'unsupported_media_type'].includes(error.kind))
