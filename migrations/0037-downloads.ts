// A kept upload is found by its name in the store when it is downloaded.

import { Migration } from '@mikro-orm/migrations'
import { concurrently } from './concurrently.ts'

export class Downloads extends Migration {
  /** PostgreSQL makes no index `concurrently` inside a transaction. */
  override isTransactional(): boolean {
    return false
  }

  override up(): void {
    const indexes = { video_source_kept: 'video_source (kept_filename) where kept_filename is not null' }
    for (const statement of concurrently(indexes)) this.addSql(statement)
  }
}
