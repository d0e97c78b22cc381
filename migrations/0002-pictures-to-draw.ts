// Pictures of local videos that are yet to be drawn are looked for, to be asked for again.

import { Migration } from '@mikro-orm/migrations'

export class PicturesToDraw extends Migration {
  /** PostgreSQL makes no index `concurrently` inside a transaction; each statement may be repeated. */
  override isTransactional(): boolean {
    return false
  }

  override up(): void {
    // One that was not finished stays behind, invalid.
    this.addSql('drop index concurrently if exists thumbnail_to_draw')
    this.addSql('create index concurrently thumbnail_to_draw on thumbnail (video_id) where file_url is null and not on_disk')
  }
}
