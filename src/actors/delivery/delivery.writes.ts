// Writes of deliveries in the transactions of other nouns.

import type { Sql } from '../../platform/database/index.ts'

/** Deletes what waits for a server that the instance blocks. */
export const dropDeliveriesToBlocked = (query: Sql, blockId: number) =>
  query(
    `delete from delivery d using server_block b join remote_host h on h.host = b.host
     where b.id = $1 and b.owner_id is null and d.host_id = h.id and d.state = 'waiting'`,
    [blockId],
  )
