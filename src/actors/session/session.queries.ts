// The sessions of a user, for the user.

import type { Columns, Database } from '../../platform/database/index.ts'
import type { Session } from './session.entity.ts'

export type SessionListRow = Columns<typeof Session, 'id' | 'createdAt' | 'updatedAt' | 'refreshExpiresAt'>

/** A page of the user's sessions, the latest used first, with the number of all. One statement. */
export async function listSessions(
  db: Pick<Database, 'query'>,
  { userId, start, count, now }: { userId: number; start: number; count: number; now: Date },
): Promise<{ total: number; rows: SessionListRow[] }> {
  const rows = await db.query<SessionListRow & { total: number }>(
    `with open as (select id, created_at, updated_at, refresh_expires_at from session where user_id = $1 and refresh_expires_at > $4)
     select counted.total, page.* from (select count(*)::int as total from open) counted
     left join lateral (select * from open order by updated_at desc, id desc limit $2 offset $3) page on true`,
    [userId, count, start, now],
  )
  return { total: rows[0]?.total ?? 0, rows: rows.filter((row) => row.id !== null) }
}
