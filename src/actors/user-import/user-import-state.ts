// Moves of a user's import through its machine, with what each of them means: the job, the mail, and the archive's bytes, which go at
// every end.

import type { FileRef } from '../../media/index.ts'
import { can, IllegalMove, step } from '../../state-machines/step.ts'
import {
  dueIn,
  initialUserImport,
  type UserImportContext,
  type UserImportEvent,
  type UserImportSettings,
  type UserImportState,
  userImportMachine,
} from '../../state-machines/user-import.ts'
import { askForMail } from '../mail/index.ts'
import { type ActorDeps, DomainError, notFound, type Unit } from '../runtime/index.ts'
import { CHECK_OWNER_EVERY, type PendingFiles } from '../video/index.ts'
import type { ItemFailure } from './failures.ts'
import type { ImportSummary } from './summary.ts'

/** Workers lost in a row after which the archive is held to be poison. */
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
  /** The name of its bytes among the uploads; null before they are all there, and after its end. */
  archive: string | null
  /** Bytes of the archive; a bound while it is uploaded. */
  size: number
  /** Items of the part in hand that are done. */
  item: number
  /** Of so many; null before the part was read. */
  items: number | null
  summary: ImportSummary
  /** Items that were not brought in, the first of them. */
  failures: readonly ItemFailure[]
}

export interface Locked {
  unit: Unit
  userImport: UserImport
  pendingFiles: PendingFiles
}

export type StateDeps = Pick<ActorDeps, 'tell' | 'config'> & { pendingFiles: PendingFiles }

/** The bytes of an archive, where they were uploaded to. */
export const archiveFile = (archive: string): FileRef => ({ kind: 'uploads', name: archive })

/** Runs `work` with the import, locked. Throws `not_found` when it is gone. */
export const withImport = <T>(
  { tell, pendingFiles }: StateDeps,
  id: number,
  work: (locked: Locked) => Promise<T>,
): Promise<T> =>
  tell({ aggregate: 'user_import', id }, async (unit) => await work(await locked(unit, id, pendingFiles)))

/** The same inside of the transaction of another aggregate, whose lock comes first. */
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

const snapshotOf = ({ state, context }: UserImport) => ({
  state,
  context: { ...initialUserImport.context, ...context },
})

export const takes = (userImport: UserImport, event: UserImportEvent): boolean =>
  can(userImportMachine, snapshotOf(userImport), event)

/** Sends one event to the machine of an import, does what the new state needs, and stores it. Throws `conflict` when it cannot take it. */
export async function move(locked: Locked, event: UserImportEvent, settings: UserImportSettings): Promise<void> {
  const { unit, userImport } = locked
  try {
    const { state, context } = step(userImportMachine, snapshotOf(userImport), event)
    const wait = dueIn(state, context, settings)
    Object.assign(userImport, {
      ...{ state, context },
      dueAt: wait === null ? null : new Date(unit.now.getTime() + wait),
    })
  } catch (error) {
    if (!(error instanceof IllegalMove)) throw error
    throw new DomainError('conflict', `This import is ${userImport.state} and cannot take this.`, { cause: error })
  }
  if (event.type === 'PART_DONE') Object.assign(userImport, { item: 0, items: null })
  await follow(locked)
  await save(locked)
}

async function follow({ unit, userImport, pendingFiles }: Locked): Promise<void> {
  const { id, state, archive } = userImport
  if (state === 'processing') return
  userImport.leaseOwner = null
  if (state === 'pending') return askForImport(unit, id)
  if (state === 'uploading') return
  if (state === 'completed') askForMail(unit, { mail: 'user-import-completed', userImportId: id })
  if (state === 'errored') askForMail(unit, { mail: 'user-import-failed', userImportId: id })
  if (archive !== null) await pendingFiles.condemn(unit.query, [archiveFile(archive)])
  userImport.archive = null
}

/** Stores the row as it is now. */
export async function save({ unit, userImport }: Locked): Promise<void> {
  const { id, state, context, dueAt, leaseOwner, archive, size, item, items, summary, failures } = userImport
  await unit.query(
    `update user_import set state = $2, context = $3, due_at = $4, lease_owner = $5, archive = $6, item = $7, items = $8,
       summary = $9, updated_at = $10, size = $11, failures = $12 where id = $1`,
    [
      ...[id, state, JSON.stringify(context), dueAt, leaseOwner, archive, item, items],
      ...[JSON.stringify(summary), unit.now, size, JSON.stringify(failures)],
    ],
  )
}

/** Asks for the job, unless it waits or runs. */
const askForImport = (unit: Unit, id: number): void =>
  unit.enqueue({
    type: 'import-user-archive',
    data: { userImportId: id },
    dedupeKey: `import-user-archive-${id}`,
  })
