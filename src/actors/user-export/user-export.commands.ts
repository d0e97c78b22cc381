// Exports: requested and deleted by users, and by administrators for others.

import { type ActorDeps, advance, DomainError, initialColumns, notFound } from '../runtime/index.ts'
import { quotaUsed } from '../user/index.ts'
import type { PendingFiles } from '../video/index.ts'
import { assertExportsEnabled, assertFits, assertMayManage, type ExportManager } from './user-export.policy.ts'
import { hasUser } from './user-export.queries.ts'
import { queueExport, settingsOf, userExportLifecycle, withExport } from './user-export-state.ts'

export interface UserExports {
  /** Throws `invalid` if exports are disabled, `not_found` for an unknown user, and `forbidden` for another user than the requester. */
  assertManaged(userId: number, by: ExportManager): Promise<void>
  /**
   * Requests an archive. Throws like `assertManaged`, `invalid` if another one exists that has not failed, and `forbidden`
   * (`max_user_video_quota_exceeded_for_user_export`) if the videos are too large for it.
   */
  request(userId: number, by: ExportManager, options: { withVideoFiles: boolean }): Promise<{ id: number }>
  /** Deletes an export with its archive; a running one is cancelled. Throws like `assertManaged`, and `not_found`. */
  remove(userId: number, by: ExportManager, exportId: number): Promise<void>
}

export function makeUserExports(deps: ActorDeps & { pendingFiles: PendingFiles }): UserExports {
  const { db, tell, registry, config, pendingFiles } = deps

  registry.timeout('user-export', {
    of: userExportLifecycle,
    async timedOut(id) {
      await withExport(deps, id, async ({ unit, userExport }) => {
        if (!userExport.dueAt || userExport.dueAt > unit.now) return
        const settings = settingsOf(deps)
        const isReleased = !userExport.leaseOwner
        advance(unit, userExportLifecycle, userExport, { type: 'TIMED_OUT', settings, isReleased }, settings)
      })
      await pendingFiles.collect()
    },
  })

  // The user's row is deleted later, and making the archive may take long.
  registry.on('UserRemoved', 'user-exports', async ({ userId }, unit) => {
    await unit.query('delete from user_export where user_id = $1', [userId])
  })

  async function assertManaged(userId: number, by: ExportManager): Promise<void> {
    assertExportsEnabled(config().export.users)
    // Only managers may learn whether a user id exists.
    assertMayManage(by, userId)
    if (!(await hasUser(db, userId))) throw notFound('User not found')
  }

  return {
    assertManaged,

    async request(userId, by, { withVideoFiles }) {
      await assertManaged(userId, by)
      if (withVideoFiles) assertFits((await quotaUsed(db, userId)).total, config().export.users)
      // One at a time for each user, who is not removed meanwhile.
      return await tell({ aggregate: 'user', id: userId }, async (unit) => {
        const [user] = await unit.query<{ has: boolean }>(
          `select exists (select from user_export e where e.user_id = u.id and e.state in ('pending', 'processing', 'completed'))
             as has from users u where u.id = $1 and u.state <> 'deleted'`,
          [userId],
        )
        if (!user) throw notFound('User not found')
        if (user.has) throw new DomainError('invalid', 'User has already processing or completed exports')
        const settings = settingsOf(deps)
        const { state, context, dueAt } = initialColumns(userExportLifecycle, unit.now, settings)
        const [made] = await unit.query<{ id: number }>(
          `insert into user_export (user_id, with_video_files, state, context, due_at, expires_on, created_at, updated_at)
           values ($1, $2, $3, $4, $5, $6, $7, $7) returning id`,
          [userId, withVideoFiles, state, JSON.stringify(context), dueAt, new Date(unit.now.getTime() + settings.expiration), unit.now],
        )
        if (!made) throw new Error('The export could not be stored.')
        unit.created({ aggregate: 'user_export', id: made.id })
        queueExport(unit, made.id)
        return made
      })
    },

    async remove(userId, by, exportId) {
      await assertManaged(userId, by)
      const ofUser = await db.query('select 1 from user_export where id = $1 and user_id = $2', [exportId, userId])
      if (ofUser.length === 0) throw notFound('User export not found')
      await withExport(deps, exportId, async ({ unit, userExport }) => {
        advance(unit, userExportLifecycle, userExport, { type: 'DELETED' }, settingsOf(deps))
      })
      await pendingFiles.collect()
    },
  }
}
