// Writes of notifications by other nouns.

import type { Sql } from '../../platform/database/index.ts'

/** With the sessions of a user: whoever had one may have added a browser. */
export const dropPushSubscriptions = (query: Sql, userId: number): Promise<unknown> =>
  query('delete from push_subscription where user_id = $1', [userId])
