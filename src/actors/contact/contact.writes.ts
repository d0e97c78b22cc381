// Writes of contact messages by other nouns.

import type { Sql } from '../../platform/database/index.ts'

export const removeContactMessage = (query: Sql, id: number) => query('delete from contact_message where id = $1', [id])
