// Reads about exports. One statement each.

import type { Database } from '../../platform/database/index.ts'
import type { userExportStateIds } from '../../state-machines/user-export.ts'
import type { ExportManager } from './user-export.policy.ts'

export interface UserExportRow {
  id: number
  state: keyof typeof userExportStateIds
  /** Name in the store, and bytes; null until the archive is complete. */
  filename: string | null
  size: number | null
  expiresOn: Date
  createdAt: Date
}

type Reader = Pick<Database, 'query'>

/** The exports of a user, newest first: at most one that is usable, and the failed ones. */
export async function listUserExports(db: Reader, userId: number, now: Date): Promise<UserExportRow[]> {
  return await db.query<UserExportRow>(
    `select id, state, filename, size, expires_on as "expiresOn", created_at as "createdAt"
     from user_export where user_id = $1 and (state in ('pending', 'processing') or expires_on > $2) order by id desc`,
    [userId, now],
  )
}

/** True if the user exists and its account is not being removed. */
export async function hasUser(db: Reader, userId: number): Promise<boolean> {
  return (await db.query("select 1 from users where id = $1 and state <> 'deleted'", [userId])).length > 0
}

/** The current state of an earlier requester; undefined if blocked or removed. */
export async function findManager(db: Reader, userId: number): Promise<ExportManager | undefined> {
  const [manager] = await db.query<ExportManager>(
    'select id as "userId", role from users where id = $1 and not blocked and state <> \'deleted\'',
    [userId],
  )
  return manager
}

/** A complete archive, by its name in the store. */
export async function findArchive(
  db: Reader,
  filename: string,
  now: Date,
): Promise<{ id: number; userId: number; createdAt: Date } | undefined> {
  const [row] = await db.query<{ id: number; userId: number; createdAt: Date }>(
    `select id, user_id as "userId", created_at as "createdAt" from user_export
     where filename = $1 and state = 'completed' and expires_on > $2`,
    [filename, now],
  )
  return row
}
