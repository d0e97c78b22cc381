// The job `create-user-export`: streams the archive into the store. If it is killed, the next run starts again under another name.
// Concurrent runs are safe, since only the holder of the row's lease finishes the export.

import { type Ffmpeg, type FileRef, isDiskFull, makeZipWriter, type Store } from '../../media/index.ts'
import { newUuid } from '../../platform/ids.ts'
import {
  type ActorDeps,
  advance,
  DomainError,
  holderOf,
  ifThere,
  ignoreNotFound,
  type JobContext,
  type LeasedRow,
  makeRowLeases,
  NotNow,
  PermanentFailure,
  takes,
} from '../runtime/index.ts'
import { type ArchiveDocuments, findExportedUser, makeArchiveWriter } from '../user-archive/index.ts'
import type { Leases, PendingFiles } from '../video/index.ts'
import { settingsOf, userExportLifecycle, withExport } from './user-export-state.ts'
import { writeArchive } from './write-archive.ts'

export interface RunExportDeps extends ActorDeps {
  store: Store
  ffmpeg: Ffmpeg
  pendingFiles: PendingFiles
  leases: Leases
  documents: ArchiveDocuments
}

/** An export that a worker has leased. */
interface Task extends LeasedRow {
  userId: number
  withVideoFiles: boolean
  createdAt: Date
}

/** How often at most the worker renews its lease and checks that the archive is still wanted, in ms. */
const BEAT_EVERY = 1_000

/** Registers the job. */
export function runExports(deps: RunExportDeps): void {
  const { db, registry, clock, logger, store, pendingFiles, leases } = deps
  const rowLeases = makeRowLeases({
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
    failed: ({ data }, error) => ignoreNotFound(fail(Number(data.userExportId), error)),
  })

  async function run({ data, signal, progress }: JobContext): Promise<void> {
    const task = await claim(Number(data.userExportId))
    if (!task) return
    const log = logger.child({ export: task.id, user: task.userId })
    const beat = rowLeases.startHeartbeat(task)
    const archive: FileRef = { kind: 'user_exports', name: `user-export-${task.userId}-${newUuid()}.zip` }
    try {
      const size = await makeArchive(task, archive, { signal: AbortSignal.any([signal, beat.signal]), progress })
      await finish(task, archive, size)
      log.info({ size }, 'an archive of a user was made')
    } catch (error) {
      await drop(archive)
      if (signal.aborted) throw isTimeOut(signal.reason) ? new Error('The export took too long.') : error
      if (!(await rowLeases.holds(task))) {
        // Its lease expired; while its job runs no other is queued.
        if (await isWaiting(task)) throw new DomainError('busy', 'The export waits for a worker again.')
        return log.info({ err: error }, 'an export is no longer wanted')
      }
      if (isDiskFull(error)) throw new NotNow('The store has no room for the archive now.', { cause: error })
      throw error
    } finally {
      await beat.stop()
      await rowLeases.release(task)
    }
  }

  /** Removes the archive unless the transaction was committed and its response lost: then the note is deleted, and the archive stays. */
  async function drop(archive: FileRef): Promise<void> {
    try {
      if (!(await isNamed(archive))) await pendingFiles.discard([archive])
    } catch {
      // The database or the store is unreachable; a later collection of this process removes what is still noted.
      pendingFiles.giveUp([archive])
    }
  }

  /** For an export that no worker has leased. */
  async function fail(id: number, error: string): Promise<void> {
    await withExport(deps, id, async ({ unit, userExport }) => {
      if (!takes(userExportLifecycle, userExport, { type: 'FAILED', error })) return
      rowLeases.refuseLeased(holderOf(userExport))
      advance(unit, userExportLifecycle, userExport, { type: 'FAILED', error }, settingsOf(deps))
    })
  }

  /** Leases the export; undefined if there is nothing to do or a living worker has the lease. */
  async function claim(id: number): Promise<Task | undefined> {
    const settings = settingsOf(deps)
    return await ifThere(
      withExport(deps, id, async ({ unit, userExport: row }) => {
        const owner = await rowLeases.claim({
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

  /** Streams the archive into the store; it is buffered neither in memory nor on disk. Returns the bytes. */
  async function makeArchive(task: Task, archive: FileRef, { signal, progress }: Pick<JobContext, 'signal' | 'progress'>): Promise<number> {
    const user = await findExportedUser(db.query, task.userId)
    if (!user) throw new PermanentFailure('The user does not exist any more.')
    // Owned by this process: if it dies, the bytes are removed.
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
        archivedVideos: new Map(),
        signal,
        progress,
      })
      zip.end()
    } catch (error) {
      zip.fail(asError(error))
      // An error of the store is the reason of a failed write.
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
        throw new DomainError('gone', 'This export was leased by another worker, or is not wanted any more.')
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
