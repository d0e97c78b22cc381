// How the tracker finds the playlist of a swarm, and how files of ours without torrent are walked through.

import { Migration } from '@mikro-orm/migrations'
import { concurrently } from './concurrently.ts'

export class Torrents extends Migration {
  /** PostgreSQL makes no index `concurrently` inside a transaction. */
  override isTransactional(): boolean {
    return false
  }

  override up(): void {
    for (const statement of concurrently(indexes)) this.addSql(statement)
  }
}

const indexes = {
  streaming_playlist_swarms: 'streaming_playlist using gin (p2p_media_loader_info_hashes)',
  video_file_ours: 'video_file (id) where filename is not null',
}
