// Writes of copies in the transactions of other nouns.

import type { Sql } from '../../platform/database/index.ts'

/** Removes copies that another server reported, at most `limit`. */
export const removeCopiesOf = (query: Sql, actorId: number, limit: number) =>
  query(`delete from redundancy where id in (select id from redundancy where actor_id = $1 order by id limit ${limit}) returning id`, [
    actorId,
  ])
