// Writes of registrations in the transactions of other nouns.

import type { Sql } from '../../platform/database/index.ts'

export const removeRegistrationOf = (query: Sql, userId: number) => query('delete from registration where user_id = $1', [userId])
