// The job `create-user-export`: writes the archive as a stream into the store. Killed at any line and run again it begins anew, under
// another name; two at once do not disturb each other, since only the one that holds the row's lease ends it.

import { type Ffmpeg, type FileRef, isDiskFull, makeZipWriter, type Store } from '../../media/index.ts'
import { newUuid } from '../../platform/ids.ts'
import {
  type ActorDeps,
  advance,
  DomainError,
  type Held,
  holderOf,
  ifThere,
  type JobContext,
  makeRowLeases,
  NotNow,
  PermanentFailure,
  takes,
  unlessGone,
} from '../runtime/index.ts'
import type { Leases, PendingFiles } from '../video/index.ts'
import type { ArchiveDocuments } from './archive-documents.ts'
import { makeArchiveWriter } from './archive-writer.ts'
import { findExportedUser } from './exported-user.ts'
import { settingsOf, userExportLifecycle, withExport } from './user-export-state.ts'
import { writeArchive } from './write-archive.ts'

export interface RunExportDeps extends ActorDeps {
  store: Store
  ffmpeg: Ffmpeg
  pendingFiles: PendingFiles
  leases: Leases
  documents: ArchiveDocuments
}

/** An export in the hands of a worker. */
interface Task extends Held {
  userId: number
  withVideoFiles: boolean
  createdAt: Date
}

/** How often the worker looks whether the archive is still wanted, and shows that it lives, in ms at most. */
const BEAT_EVERY = 1_000

/** Adds the job to the registry. */
export function runExports(deps: RunExportDeps): void {
  const { db, registry, clock, logger, store, pendingFiles, leases } = deps
  const held = makeRowLeases({
    db,
    clock,
    logger,
    leases,
    length: () => settingsOf(deps).lease,
    beatEvery: BEAT_EVERY,
    table: 'user_export',
    until: 'due_at',
    active: "x.state = 'processing'",
    wanted: "exists (select from users u where u.id = x.user_id and u.state <> 'deleted')",
  })

  registry.job('create-user-export', {
    queue: 'io',
    run,
    failed: ({ data }, error) => unlessGone(fail(Number(data.userExportId), error)),
  })

  async function run({ data, signal, progress }: JobContext): Promise<void> {
    const task = await claim(Number(data.userExportId))
    if (!task) return
    const log = logger.child({ export: task.id, user: task.userId })
    const beat = held.startBeat(task)
    const archive: FileRef = { kind: 'user_exports', name: `user-export-${task.userId}-${newUuid()}.zip` }
    try {
      const size = await makeArchive(task, archive, { signal: AbortSignal.any([signal, beat.signal]), progress })
      await finish(task, archive, size)
      log.info({ size }, 'an archive of a user was made')
    } catch (error) {
      await drop(archive)
      if (signal.aborted) throw isTimeOut(signal.reason) ? new Error('The export took too long.') : error
      if (!(await held.isOurs(task))) {
        // It was taken for dead, and while its job runs no other is stored.
        if (await isWaiting(task)) throw new DomainError('busy', 'The export waits for a worker again.')
        return log.info({ err: error }, 'an export is not wanted any more')
      }
      if (isDiskFull(error)) throw new NotNow('The store has no room for the archive now.', { cause: error })
      throw error
    } finally {
      await beat.stop()
      await held.release(task)
    }
  }

  /** Unless the transaction was committed and its answer lost: then it is noted nowhere, and stays. */
  async function drop(archive: FileRef): Promise<void> {
    try {
      if (!(await isNamed(archive))) await pendingFiles.discard([archive])
    } catch {
      // The database or the store is away; a later collection of this process takes what is noted still.
      pendingFiles.giveUp([archive])
    }
  }

  /** Nobody is at it any more. */
  async function fail(id: number, error: string): Promise<void> {
    await withExport(deps, id, async ({ unit, userExport }) => {
      if (!takes(userExportLifecycle, userExport, { type: 'FAILED', error })) return
      held.refuseHeld(holderOf(userExport))
      advance(unit, userExportLifecycle, userExport, { type: 'FAILED', error }, settingsOf(deps))
    })
  }

  /** Takes the export; undefined when there is nothing to do, or a living worker is at it. */
  async function claim(id: number): Promise<Task | undefined> {
    const settings = settingsOf(deps)
    return await ifThere(
      withExport(deps, id, async ({ unit, userExport: row }) => {
        const owner = await held.claim({
          row,
          waiting: 'pending',
          working: 'processing',
          move: (type) => void advance(unit, userExportLifecycle, row, { type, settings }, settings),
        })
        const { userId, withVideoFiles, createdAt } = row
        return owner === undefined ? undefined : { id, owner, userId, withVideoFiles, createdAt }
      }),
    )
  }

  /** Writes and stores at once: neither is held, nor lies anywhere else. Answers the bytes. */
  async function makeArchive(task: Task, archive: FileRef, { signal, progress }: Pick<JobContext, 'signal' | 'progress'>): Promise<number> {
    const user = await findExportedUser(db.query, task.userId)
    if (!user) throw new PermanentFailure('There is no such user any more.')
    // Of this process: should it die, the bytes go.
    await pendingFiles.reserve(leases.owner, [archive])
    const zip = makeZipWriter({ modifiedAt: task.createdAt })
    const stop = () => zip.fail(asError(signal.reason))
    signal.addEventListener('abort', stop)
    const stored = store.put(archive, zip.stream)
    stored.catch(() => undefined)
    try {
      signal.throwIfAborted()
      const writer = makeArchiveWriter({ zip, store })
      await writeArchive({
        ...deps,
        query: db.query,
        writer,
        user,
        withVideoFiles: task.withVideoFiles,
        signal,
        progress,
      })
      zip.end()
    } catch (error) {
      zip.fail(asError(error))
      // What the store refused is why nothing could be written.
      await stored
      throw error
    } finally {
      signal.removeEventListener('abort', stop)
    }
    return (await stored).size
  }

  async function finish(task: Task, archive: FileRef, size: number): Promise<void> {
    await withExport(deps, task.id, async ({ unit, userExport }) => {
      if (userExport.leaseOwner !== task.owner || userExport.state !== 'processing') {
        throw new DomainError('gone', 'This export is in other hands, or not wanted any more.')
      }
      userExport.filename = archive.name
      userExport.size = size
      await pendingFiles.settle(unit.query, [archive])
      advance(unit, userExportLifecycle, userExport, { type: 'SUCCEEDED' }, settingsOf(deps))
    })
  }

  const isWaiting = async ({ id }: Task): Promise<boolean> =>
    (await db.query("select 1 from user_export where id = $1 and state = 'pending'", [id])).length > 0

  const isNamed = async ({ name }: FileRef): Promise<boolean> =>
    (await db.query('select 1 from user_export where filename = $1', [name])).length > 0
}

const asError = (reason: unknown): Error => (reason instanceof Error ? reason : new Error(String(reason)))

const isTimeOut = (reason: unknown): boolean => reason instanceof Error && reason.name === 'TimeoutError'
