// Imports of archives as uploads begin, complete and cancel them, and the timeout of abandoned ones.

import { type ActorDeps, DomainError, ignoreNotFound, initialColumns, takes, type Unit } from '../runtime/index.ts'
import type { PendingFiles } from '../video/index.ts'
import { locked, move, settingsOf, userImportLifecycle, withImport } from './user-import-state.ts'

export interface UserImports {
  /** Throws `invalid` if imports are disabled, or an import of the user is running. */
  assertPossible(userId: number): Promise<void>
  /** Runs in the transaction that opens the upload of an archive. Returns the id of the import. */
  begin(unit: Unit, archive: { userId: number; size: number }): Promise<number>
  /**
   * Runs in the transaction that ends the upload: `token` is the name of its bytes, `size` their number. Throws `conflict` while another
   * import is running.
   */
  uploaded(unit: Unit, importId: number, archive: { token: string; size: number }): Promise<void>
  /** Runs in the transaction that cancels the upload and removes its bytes. */
  notUploaded(unit: Unit, importId: number): Promise<void>
  /** Cancels the imports of a removed user. */
  cancelAll(userId: number): Promise<void>
}

export interface UserImportDeps extends ActorDeps {
  pendingFiles: PendingFiles
}

/** How often cancelled imports are deleted, in ms. */
const FORGET_EVERY = 3_600_000

export function makeUserImports(deps: UserImportDeps): UserImports {
  const { db, registry, config, clock, pendingFiles } = deps

  registry.timeout('user-import', {
    of: userImportLifecycle,
    timedOut: (id) =>
      withImport(deps, id, async (locked) => {
        const { userImport, unit } = locked
        if (!userImport.dueAt || userImport.dueAt > unit.now) return
        const settings = settingsOf(deps)
        await move(locked, { type: 'TIMED_OUT', settings, isReleased: !userImport.leaseOwner }, settings)
      }),
  })

  registry.periodic('user-import-traces', {
    everyMs: () => FORGET_EVERY,
    // At the same age as the records of their uploads.
    async run() {
      await db.query("delete from user_import where state = 'cancelled' and updated_at < $1", [
        new Date(clock.now().getTime() - config().vireo.uploads.session_lifetime),
      ])
    },
  })

  const isUnderWay = async (query: ActorDeps['db']['query'], userId: number): Promise<boolean> =>
    (await query("select 1 from user_import where user_id = $1 and state in ('pending', 'processing')", [userId])).length > 0

  return {
    async assertPossible(userId) {
      if (!config().import.users.enabled) {
        throw new DomainError('invalid', 'Users do not import archives on this server.')
      }
      if (await isUnderWay(db.query, userId)) {
        throw new DomainError('invalid', 'An import of this user is already being processed.')
      }
    },

    async begin(unit, { userId, size }) {
      const { state, context } = initialColumns(userImportLifecycle, unit.now, settingsOf(deps))
      const [row] = await unit.query<{ id: number }>(
        `insert into user_import (user_id, state, context, size, created_at, updated_at)
         values ($1, $2, $3, $4, $5, $5) returning id`,
        [userId, state, JSON.stringify(context), size, unit.now],
      )
      if (!row) throw new Error('The import could not be stored.')
      unit.created({ aggregate: 'user_import', id: row.id })
      return row.id
    },

    async uploaded(unit, importId, { token, size }) {
      const current = await locked(unit, importId, pendingFiles)
      const { userId } = current.userImport
      // Two uploads may end at the same time.
      await unit.query("select pg_advisory_xact_lock(hashtext('user-imports'), $1)", [userId])
      if (await isUnderWay(unit.query, userId)) {
        throw new DomainError('conflict', 'An import of this user is already being processed.')
      }
      Object.assign(current.userImport, { archive: token, size })
      await move(current, { type: 'UPLOADED' }, settingsOf(deps))
    },

    async notUploaded(unit, importId) {
      const current = await locked(unit, importId, pendingFiles)
      const event = { type: 'CANCELLED' } as const
      if (takes(userImportLifecycle, current.userImport, event)) await move(current, event, settingsOf(deps))
    },

    async cancelAll(userId) {
      const open = await db.query<{ id: number }>(
        "select id from user_import where user_id = $1 and state in ('pending', 'processing') order by id",
        [userId],
      )
      for (const { id } of open) {
        await ignoreNotFound(withImport(deps, id, (current) => move(current, { type: 'CANCELLED' }, settingsOf(deps))))
      }
      await pendingFiles.collect()
    },
  }
}
