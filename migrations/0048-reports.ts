// Reports in each of the orders and by each of the words in which moderators look for them.

import { Migration } from '@mikro-orm/migrations'
import { concurrently } from './concurrently.ts'

export class Reports extends Migration {
  /** PostgreSQL makes no index `concurrently` inside a transaction. */
  override isTransactional(): boolean {
    return false
  }

  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}

const statements = concurrently({
  // In the order of the numbers that clients know.
  abuse_state_number: "abuse ((case state when 'pending' then 1 when 'rejected' then 2 else 3 end), id)",
  abuse_state_created: 'abuse (state, created_at, id)',
  abuse_kind_created: 'abuse (kind, created_at, id)',
  abuse_reasons: 'abuse using gin (predefined_reasons)',
  abuse_reporter_name: 'abuse using gin (reporter_name gin_trgm_ops)',
  abuse_reportee_name: 'abuse using gin (reportee_name gin_trgm_ops)',
  abuse_video_name: 'abuse using gin (video_name gin_trgm_ops)',
})
