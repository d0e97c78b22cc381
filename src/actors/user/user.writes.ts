// Writes of users in the transactions of other nouns.

import type { Sql } from '../../platform/database/index.ts'

/** SQL: the start of an update that stores a login at $3. */
export const NOTE_LOGIN = 'update users set last_login_at = $3'

export const removeUserRow = (query: Sql, userId: number) => query('delete from users where id = $1', [userId])
