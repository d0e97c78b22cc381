// The kinds of work that remote runners do, by the type of the job. A noun registers its kinds; this noun speaks the protocol.

import { setTimeout as wait } from 'node:timers/promises'
import { type FileRef, theoreticalBitrate } from '../../media/index.ts'
import { type LeasedRow, LeaseLost, notFound, type RowLeases, type RunnerJobData, type Unit } from '../runtime/index.ts'

/** A runner's job, as its noun reads it. */
export interface RunnerJob {
  id: number
  uuid: string
  type: string
  /** `video` is the UUID of its video, `videoId` its row. */
  data: RunnerJobData
}

/** Builds the address at which the runner that has the job reads an input file. */
export type InputAddress = (file: 'max-quality' | 'max-quality/audio' | 'previews/max-quality' | `studio/task-files/${string}`) => string

/** Files of results, by their field in the form. */
export const resultFields = ['videoFile', 'resolutionPlaylistFile', 'vttFile', 'storyboardFile'] as const
export type ResultField = (typeof resultFields)[number]

export interface Result {
  /** Paths of the received files, in one folder that is removed afterwards. */
  files: Partial<Record<ResultField, string>>
  /** As the runner recognised it. */
  language?: string | undefined
}

/** A part of a result that a runner sends while it works on. */
export interface Part {
  /** As the runner calls it. */
  name: string
  /** Of the received file, in a folder that is removed afterwards. */
  path: string
  /** When the runner accepted the job: it identifies the lease. */
  leasedAt: Date
}

export interface RemoteWork {
  /** How long its runner may be silent, by the key of `remote_runners.stalled_jobs`; `vod` unless set. */
  silence?: 'vod' | 'live'
  /** For the runner; `jobToken` once it has the job. */
  payload(job: RunnerJob, address: InputAddress, jobToken?: string): Record<string, unknown>
  /** For administrators only. */
  privatePayload(job: RunnerJob): Record<string, unknown>
  /** The input file of that name; undefined if there is none. Throws `not_found` if the video is gone. */
  input(job: RunnerJob, file: string): Promise<FileRef | undefined>
  /** The files of a result, with the most bytes of each. All of them are required. */
  results(job: RunnerJob): Promise<Partial<Record<ResultField, number>>>
  /**
   * Checks a result and stores it. `done` completes the job in the transaction that stores the rows; it throws if the job is no longer
   * wanted. Throws MediaError if the result is unusable, PermanentFailure if each other one would be too, and `not_found` if nothing waits for it any more. May run again
   * after a crash.
   */
  take(job: RunnerJob, result: Result, done: (unit: Unit) => Promise<void>, signal: AbortSignal): Promise<void>
  /** True if nothing waits for the result any more: then no other runner gets the job. */
  isOver?(unit: Pick<Unit, 'query'>, job: RunnerJob): Promise<boolean>
  parts?: {
    /** The most bytes of one. */
    mostBytes(job: RunnerJob): number
    /** Checks a part and stores it; twice is once. Throws like `take` of results. */
    take(job: RunnerJob, part: Part, signal: AbortSignal): Promise<void>
  }
}

export interface RemoteWorks {
  add(type: string, work: RemoteWork): void
  /** Undefined for a type of another version. */
  of(type: string): RemoteWork | undefined
  types(): string[]
}

export function makeRemoteWorks(): RemoteWorks {
  const works = new Map<string, RemoteWork>()
  return { add: (type, work) => void works.set(type, work), of: (type) => works.get(type), types: () => [...works.keys()] }
}

/** How often a claim is tried while another process stores a result, in ms. */
const TRY_EVERY = 250

/**
 * Runs `work` under the lease of the row that a result belongs to; waits while another process has it. Throws `not_found` once nothing waits
 * for the result any more.
 */
export async function withResultLease<T extends LeasedRow>(
  {
    rowLeases,
    claim,
    isWanted,
    signal,
  }: { rowLeases: RowLeases; claim(): Promise<T | undefined>; isWanted(): Promise<boolean>; signal: AbortSignal },
  work: (row: T, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const row = await claimed()
  const beat = rowLeases.startHeartbeat(row)
  try {
    await work(row, AbortSignal.any([signal, beat.signal]))
  } catch (error) {
    throw error instanceof LeaseLost ? notWanted() : error
  } finally {
    await beat.stop()
    await rowLeases.release(row)
  }

  async function claimed(): Promise<T> {
    for (;;) {
      const row = await claim()
      if (row) return row
      if (!(await isWanted())) throw notWanted()
      await wait(TRY_EVERY, undefined, { signal })
    }
  }
}

/** For a job whose result nothing waits for. */
export const notWanted = () => notFound('The result of this job is not wanted any more.')

/** For a runner that encodes less well. */
const MARGIN = 3
/** The least that every result may have, in bytes. */
const LEAST_BYTES = 64 * 1024 * 1024
/** Bits per second, with a margin. */
const SOUND_BITRATE = 1_000_000

/** The most bytes of an encoded video: some times what its picture needs at most. */
export function mostBytesOf({ resolution, fps, seconds }: { resolution: number; fps: number; seconds: number }): number {
  const picture = theoreticalBitrate({ width: resolution * 2.5, height: resolution, fps }, 'max')
  return LEAST_BYTES + Math.ceil(((picture * MARGIN + SOUND_BITRATE) * seconds) / 8)
}
