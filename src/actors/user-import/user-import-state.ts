// State changes of a user's import, and what each one does: the job, the mail, and the archive's bytes, which every end removes.

import type { FileRef } from '../../media/index.ts'
import {
  dueIn,
  initialUserImport,
  type UserImportContext,
  type UserImportEvent,
  type UserImportSettings,
  type UserImportState,
  userImportMachine,
} from '../../state-machines/user-import.ts'
import { queueMail } from '../mail/index.ts'
import { type ActorDeps, advance, CHECK_OWNER_EVERY, defineLifecycle, notFound, storeRow, type Unit } from '../runtime/index.ts'
import type { PendingFiles } from '../video/index.ts'
import type { ItemFailure } from './failures.ts'
import type { ImportSummary } from './summary.ts'

/** Workers lost in a row after which the archive counts as poison. */
const MAX_LOST = 10

export const settingsOf = ({ config }: Pick<ActorDeps, 'config'>): UserImportSettings => ({
  lease: config().vireo.jobs.lease,
  check_owner_every: CHECK_OWNER_EVERY,
  max_lost: MAX_LOST,
})

/** The row of an import. */
export interface UserImport {
  id: number
  userId: number
  state: UserImportState
  context: UserImportContext
  dueAt: Date | null
  leaseOwner: string | null
  /** Name of its bytes among the uploads; null until they are complete, and after its end. */
  archive: string | null
  /** Bytes of the archive; an upper bound during the upload. */
  size: number
  /** Finished items of the current part. */
  item: number
  /** Items of the current part; null before it is read. */
  items: number | null
  summary: ImportSummary
  /** The first failed items. */
  failures: readonly ItemFailure[]
}

export interface Locked {
  unit: Unit
  userImport: UserImport
  pendingFiles: PendingFiles
}

export type StateDeps = Pick<ActorDeps, 'tell' | 'config'> & { pendingFiles: PendingFiles }

/** The uploaded bytes of an archive. */
export const archiveFile = (archive: string): FileRef => ({ kind: 'uploads', name: archive })

/** Runs `work` with the import, locked. Throws `not_found` if it is removed. */
export const withImport = <T>({ tell, pendingFiles }: StateDeps, id: number, work: (locked: Locked) => Promise<T>): Promise<T> =>
  tell({ aggregate: 'user_import', id }, async (unit) => await work(await locked(unit, id, pendingFiles)))

/** The same in the transaction of another aggregate, which is locked first. */
export async function locked(unit: Unit, id: number, pendingFiles: PendingFiles): Promise<Locked> {
  const [userImport] = await unit.query<UserImport>(
    `select id, user_id as "userId", state, context, due_at as "dueAt", lease_owner as "leaseOwner", archive,
       size, item, items, summary, failures
     from user_import where id = $1 for no key update`,
    [id],
  )
  if (!userImport) throw notFound('User import not found')
  return { unit, userImport, pendingFiles }
}

export const userImportLifecycle = defineLifecycle({
  table: 'user_import',
  called: 'import',
  machine: userImportMachine,
  initial: initialUserImport,
  dueIn,
})

/**
 * Sends one event to the machine of an import, does what the new state needs, and stores it. Throws `conflict` if the machine does not take
 * it.
 */
export async function move(locked: Locked, event: UserImportEvent, settings: UserImportSettings): Promise<void> {
  const { unit, userImport } = locked
  advance(unit, userImportLifecycle, userImport, event, settings)
  if (event.type === 'PART_DONE') Object.assign(userImport, { item: 0, items: null })
  await follow(locked)
  await save(locked)
}

async function follow({ unit, userImport, pendingFiles }: Locked): Promise<void> {
  const { id, state, archive } = userImport
  if (state === 'processing') return
  userImport.leaseOwner = null
  if (state === 'pending') return queueImport(unit, id)
  if (state === 'uploading') return
  if (state === 'completed') queueMail(unit, { mail: 'user-import-completed', userImportId: id })
  if (state === 'errored') queueMail(unit, { mail: 'user-import-failed', userImportId: id })
  if (archive !== null) await pendingFiles.condemn(unit.query, [archiveFile(archive)])
  userImport.archive = null
}

/** Stores the current row. */
export async function save({ unit, userImport }: Locked): Promise<void> {
  const { leaseOwner, archive, size, item, items, summary, failures } = userImport
  const also = { leaseOwner, archive, size, item, items, summary, failures }
  await storeRow(unit, userImportLifecycle, userImport, also)
}

/** Queues the job, unless it waits or runs. */
const queueImport = (unit: Unit, id: number): void =>
  unit.enqueue({
    type: 'import-user-archive',
    data: { userImportId: id },
    dedupeKey: `import-user-archive-${id}`,
  })
