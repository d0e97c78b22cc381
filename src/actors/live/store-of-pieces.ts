// Where the pieces of lives are stored.

import type { Config } from '../../config/index.ts'
import type { Store } from '../../media/index.ts'

/** On the disk if the configuration wants that; otherwise like all HLS files. */
export function storeOfPieces(store: Store, { object_storage }: Pick<Config, 'object_storage'>): Pick<Store, 'put'> {
  if (object_storage.streaming_playlists.store_live_streams) return store
  return store.only('file-system', 'streaming_playlists') ?? store
}
