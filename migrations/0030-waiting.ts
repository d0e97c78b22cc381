// Comments that wait for approval are few, and hide what answers them: they are looked for with each reading of a thread.

import { Migration } from '@mikro-orm/migrations'
import { concurrently } from './concurrently.ts'

export class Waiting extends Migration {
  /** PostgreSQL makes no index `concurrently` inside a transaction. */
  override isTransactional(): boolean {
    return false
  }

  override up(): void {
    for (const statement of concurrently(indexes)) this.addSql(statement)
  }
}

const indexes = {
  comment_waiting: 'comment (video_id) where held_for_review and deleted_at is null',
}
