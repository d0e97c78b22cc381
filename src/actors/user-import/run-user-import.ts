// The job `import-user-archive`: imports an archive, part by part and item by item. The position is stored with the counts, so that after a
// crash the import resumes at the current item and counts each item once.

import { type ArchivedList, ArchiveError, isDiskFull, MediaError, openArchive, type Store } from '../../media/index.ts'
import type { Logger } from '../../platform/logger.ts'
import { makeTimeSlices } from '../../platform/time-slices.ts'
import type { UserImportEvent } from '../../state-machines/user-import.ts'
import {
  DomainError,
  holderOf,
  ifThere,
  ignoreNotFound,
  isOutage,
  type JobContext,
  type LeasedRow,
  makeRowLeases,
  NotNow,
  takes,
} from '../runtime/index.ts'
import { type ImportContext, importedParts, type PartImporter, partOf, withWorkFolder } from '../user-archive/index.ts'
import type { Leases } from '../video/index.ts'
import { type ItemFailure, nameOf, withFailure } from './failures.ts'
import { importItem } from './import-item.ts'
import { checkDocuments, findFile, withItems } from './read-archive.ts'
import { counted, type ImportSummary } from './summary.ts'
import type { UserImportDeps } from './user-import.commands.ts'
import { archiveFile, move, save, settingsOf, userImportLifecycle, withImport } from './user-import-state.ts'

export interface RunUserImportDeps extends UserImportDeps {
  store: Store
  leases: Leases
  /** One for each part that is imported. */
  partImporters: readonly PartImporter[]
}

/** An import that a worker has leased. */
interface Task extends LeasedRow {
  userId: number
  accountId: number
  archive: string
  size: number
  /** Finished parts. */
  part: number
  /** Finished items of the current part. */
  item: number
  summary: ImportSummary
  failures: readonly ItemFailure[]
  log: Logger
}

/** How often at most the worker renews its lease and checks that the import is still wanted, in ms. */
const BEAT_EVERY = 1_000
/** How often the position is stored, in ms: after a crash, at most this much is repeated. */
const STORE_EVERY = 100

/** Registers the job. Throws if a part has no importer, or two. */
export function runUserImports(deps: RunUserImportDeps): void {
  const { db, registry, clock, logger, store, pendingFiles, leases } = deps
  const importers = inOrder(deps.partImporters)
  const rowLeases = makeRowLeases({
    db,
    clock,
    logger,
    leases,
    length: () => settingsOf(deps).lease,
    beatEvery: BEAT_EVERY,
    table: 'user_import',
    until: 'due_at',
    active: "x.state = 'processing'",
    wanted: "exists (select from users u where u.id = x.user_id and u.state <> 'deleted' and not u.blocked)",
  })

  registry.job('import-user-archive', {
    queue: 'media',
    run: (job) => run(job),
    failed: ({ data }, error) => ignoreNotFound(fail(Number(data.userImportId), error)),
  })

  async function run({ data, signal, progress }: JobContext): Promise<void> {
    const task = await claim(Number(data.userImportId))
    if (!task) return
    const { log } = task
    const before = task.summary
    const beat = rowLeases.startHeartbeat(task)
    try {
      await importArchive(task, AbortSignal.any([signal, beat.signal]), progress)
      log.info('an archive was imported')
    } catch (error) {
      if (signal.aborted) throw isTimeOut(signal.reason) ? tookTooLong(task, before) : error
      await settle(task, error)
    } finally {
      await beat.stop()
      await rowLeases.release(task)
      await pendingFiles.collect()
    }
  }

  /** Leases the import; undefined if there is nothing to do or a living worker has the lease. */
  async function claim(id: number): Promise<Task | undefined> {
    const settings = settingsOf(deps)
    const claimed = await ifThere(
      withImport(deps, id, async (locked) => {
        const { userImport: row, unit } = locked
        const owner = await rowLeases.claim({
          row,
          waiting: 'pending',
          working: 'processing',
          move: (type) => move(locked, { type, settings, parts: importers.length }, settings),
        })
        if (owner === undefined) return undefined
        const [account] = await unit.query<{ id: number }>('select id from account where user_id = $1', [row.userId])
        if (!account || row.archive === null) {
          await move(locked, { type: 'CANCELLED' }, settings)
          return undefined
        }
        await save(locked)
        return { ...row, owner, archive: row.archive, accountId: account.id }
      }),
    )
    if (!claimed) return undefined
    const { owner, userId, accountId, archive, size, context, item, summary, failures } = claimed
    const log = logger.child({ userImport: id, user: userId })
    return { id, owner, userId, accountId, archive, size, part: context.part, item, summary, failures, log }
  }

  async function importArchive(task: Task, signal: AbortSignal, progress: (percent: number) => void): Promise<void> {
    const { userId, accountId, size } = task
    const archive = await openArchive({ store, ref: archiveFile(task.archive), size }).catch((error: unknown) => {
      throw isMissing(error) ? new ArchiveError('damaged', 'The archive does not exist any more.', { cause: error }) : error
    })
    try {
      await withWorkFolder(deps, signal, async (unpack) => {
        const from = { archive, unpack }
        // Refuse an unreadable archive before anything is imported.
        if (task.part === 0 && task.item === 0) await checkDocuments(from, importedParts, signal)
        const file: ImportContext['file'] = (name) => findFile(archive, name)
        for (const importer of importers.slice(task.part)) {
          await withItems(from, importer.part, (items) =>
            importPart(task, { importer, items }, { userId, accountId, signal, file }, (share) =>
              progress((100 * (task.part + share)) / importers.length),
            ),
          )
        }
      })
    } finally {
      archive.close()
    }
  }

  async function importPart(
    task: Task,
    { importer, items }: { importer: PartImporter; items: ArchivedList },
    context: ImportContext,
    report: (share: number) => void,
  ): Promise<void> {
    const { part } = importer
    const { result, bound } = partOf(part)
    let stored = { at: Number.NEGATIVE_INFINITY, item: -1, failures: task.failures }
    const storePosition = async (): Promise<void> => {
      if (stored.item === task.item) return
      const rows = await db.query(
        `update user_import set item = $3, items = $4, summary = $5, updated_at = $6, failures = coalesce($7, failures)
         where id = $1 and lease_owner = $2 and state = 'processing' returning id`,
        [
          task.id,
          task.owner,
          task.item,
          items.length,
          JSON.stringify(task.summary),
          clock.now(),
          stored.failures === task.failures ? null : JSON.stringify(task.failures),
        ],
      )
      if (rows.length === 0) throw leaseLost()
      stored = { at: performance.now(), item: task.item, failures: task.failures }
    }
    try {
      const isTooMuch = bound?.()
      const pause = makeTimeSlices()
      // A limit has to count the finished items, too.
      for (let index = isTooMuch ? 0 : task.item; index < items.length; index += 1) {
        const read = await items.item(index)
        const isOver = isTooMuch?.(read) ?? false
        await pause()
        if (index < task.item) continue
        if (performance.now() - stored.at > STORE_EVERY) await storePosition()
        context.signal.throwIfAborted()
        const outcome = isOver ? ({ error: 'too_many' } as const) : await importItem(importer, { item: read, context, logger: task.log })
        task.summary = counted(task.summary, result, outcome)
        if (typeof outcome === 'object') {
          const failure = { part, index, name: nameOf(part, read), reason: outcome.error }
          task.failures = withFailure(task.failures, failure)
        }
        task.item += 1
        report(task.item / items.length)
      }
    } catch (error) {
      await storePosition().catch(() => undefined)
      throw error
    }
    await withImport(deps, task.id, async (locked) => {
      const { userImport } = locked
      if (userImport.state !== 'processing' || userImport.leaseOwner !== task.owner) throw leaseLost()
      Object.assign(userImport, { summary: task.summary, failures: task.failures })
      await move(locked, { type: 'PART_DONE' }, settingsOf(deps))
    })
    task.part += 1
    task.item = 0
  }

  /** Classifies a failure: the import was cancelled, its user may not import, the archive is bad, or a retry may succeed. */
  async function settle(task: Task, error: unknown): Promise<void> {
    if (!(await rowLeases.holds(task))) return
    const [user] = await db.query<{ blocked: boolean }>("select blocked from users where id = $1 and state <> 'deleted'", [task.userId])
    if (!user) return await ignoreNotFound(end(task, { type: 'CANCELLED' }))
    if (user.blocked) return await refuse(task, 'This user may not import.', error)
    if (error instanceof ArchiveError) return await refuse(task, error.message, error)
    if (error instanceof DomainError && error.kind === 'busy') throw error
    const isLost = !isForNow(error) && (await isGivenUp(task))
    task.log[isLost ? 'error' : 'warn']({ err: error }, 'an archive could not be imported')
    if (!isLost) throw new NotNow('The archive cannot be imported now.', { cause: error })
  }

  async function refuse(task: Task, reason: string, error: unknown): Promise<void> {
    task.log.info({ err: error }, 'an archive was refused')
    await ignoreNotFound(end(task, { type: 'FAILED', error: reason }))
  }

  /** Returns true if too many unknown errors occurred; each counts like a lost worker. */
  async function isGivenUp(task: Task): Promise<boolean> {
    const settings = settingsOf(deps)
    return await withImport(deps, task.id, async (locked) => {
      if (locked.userImport.leaseOwner !== task.owner) return false
      await move(locked, { type: 'TIMED_OUT', settings }, settings)
      return locked.userImport.state === 'errored'
    })
  }

  async function end({ id, owner }: Task, event: UserImportEvent): Promise<void> {
    await withImport(deps, id, async (locked) => {
      if (locked.userImport.leaseOwner === owner) await move(locked, event, settingsOf(deps))
    })
  }

  /** For an import that no worker has leased. */
  async function fail(id: number, error: string): Promise<void> {
    await withImport(deps, id, async (locked) => {
      if (!takes(userImportLifecycle, locked.userImport, { type: 'FAILED', error })) return
      rowLeases.refuseLeased(holderOf(locked.userImport))
      await move(locked, { type: 'FAILED', error }, settingsOf(deps))
    })
    await pendingFiles.collect()
  }
}

/** The importers in the order of their parts, which stored positions refer to by index. */
const inOrder = (importers: readonly PartImporter[]): PartImporter[] =>
  importedParts.map((part) => {
    const [importer, ...others] = importers.filter((one) => one.part === part)
    if (!importer || others.length > 0) throw new Error(`There has to be one importer of ${part}.`)
    return importer
  })

/** A long archive continues after a timeout, but an item that took a whole run would take the next one, too. */
const tookTooLong = ({ summary }: Task, before: ImportSummary): Error =>
  summary !== before
    ? new DomainError('busy', 'The import takes longer than its job may, and goes on where it was.')
    : new Error('The import took too long.')

const leaseLost = (): DomainError => new DomainError('gone', 'This import was leased by another worker, or is not wanted any more.')

/** True if this server caused the failure, and the import waits for it. */
const isForNow = (error: unknown): boolean =>
  isOutage(error) || isDiskFull(error) || (error instanceof DomainError && error.kind === 'unavailable')

const isMissing = (error: unknown): boolean => error instanceof MediaError && error.reason === 'not-found'

const isTimeOut = (reason: unknown): boolean => reason instanceof Error && reason.name === 'TimeoutError'
