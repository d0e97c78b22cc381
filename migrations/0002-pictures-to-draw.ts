// An index of local videos with missing pictures, whose drawing is requested again.

import { Migration } from '@mikro-orm/migrations'

export class PicturesToDraw extends Migration {
  /** PostgreSQL creates no index `concurrently` inside a transaction; each statement can be repeated. */
  override isTransactional(): boolean {
    return false
  }

  override up(): void {
    // An unfinished one remains, invalid.
    this.addSql('drop index concurrently if exists thumbnail_to_draw')
    this.addSql('create index concurrently thumbnail_to_draw on thumbnail (video_id) where file_url is null and not on_disk')
  }
}
