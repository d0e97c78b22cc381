// Create: a video or playlist of another server, a comment on a video that we know, or of a video of ours a copy, or what
// somebody watched of it.

import { type JsonObject, readCacheFile, readCreate, readNote } from '../wire/index.ts'
import { receiveCacheFile } from './cache-file.ts'
import { expectRead, type Handler, refuseForeign } from './context.ts'
import { receiveNote } from './note.ts'
import { takePlaylist } from './playlist.ts'
import { takeVideo } from './video.ts'
import { receiveWatchAction } from './view.ts'

/** What is made lives on the server of its maker; what lives elsewhere is not fetched for a stranger. */
export const handleCreate: Handler = async (inbound, context) => {
  const { actor } = inbound
  const { object } = expectRead(readCreate(inbound.document))
  if (object.id === null) return
  refuseForeign(object.id, actor)
  const document: JsonObject = object.document ?? (await context.fetchDocument(object.id)).document
  switch (object.type ?? document.type) {
    case 'Video':
      return await takeVideo(document, actor, context)
    case 'Playlist':
      return await takePlaylist(document, actor, context)
    case 'Note':
      return await receiveNote(expectRead(readNote(document)), inbound, context)
    case 'WatchAction':
      return await receiveWatchAction(document, inbound, context)
    case 'CacheFile':
      return await receiveCacheFile(expectRead(readCacheFile(document)), inbound, context)
    default:
      return
  }
}
