// An index for the channels of a server, whose videos are listed or muted.

import { Migration } from '@mikro-orm/migrations'

export class ChannelsOfHosts extends Migration {
  /** PostgreSQL creates no index `concurrently` inside a transaction; each statement can be repeated. */
  override isTransactional(): boolean {
    return false
  }

  override up(): void {
    // An unfinished one remains, invalid.
    this.addSql('drop index concurrently if exists channel_search_host')
    this.addSql('create index concurrently channel_search_host on channel_search (host_id, id) where host_id is not null')
  }
}
