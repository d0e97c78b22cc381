// Create: a video or playlist of another server, a comment on a video that we know, or of a local video a copy, or what
// somebody watched of it.

import { readCacheFile, readCreate, readNote } from '../wire/index.ts'
import { receiveCacheFile } from './cache-file.ts'
import { expectRead, type Handler, type ObjectHandlers, refuseForeign, treatObject } from './context.ts'
import { receiveNote } from './note.ts'
import { takePlaylist } from './playlist.ts'
import { takeVideo } from './video.ts'
import { receiveWatchAction } from './view.ts'

/** By the type of what is made. */
export const creations: ObjectHandlers = new Map([
  ['CacheFile', (document, inbound, context) => receiveCacheFile(expectRead(readCacheFile(document)), inbound, context)],
  ['Note', (document, inbound, context) => receiveNote(expectRead(readNote(document)), inbound, context)],
  ['Playlist', (document, { actor }, context) => takePlaylist(document, actor, context)],
  ['Video', (document, { actor }, context) => takeVideo(document, actor, context)],
  ['WatchAction', receiveWatchAction],
])

/** What is made lives on the server of its maker; what lives elsewhere is not fetched for a stranger. */
export const handleCreate: Handler = async (inbound, context) => {
  const { object } = expectRead(readCreate(inbound.document))
  if (object.id === null) return
  refuseForeign(object.id, inbound.actor)
  await treatObject(creations, object, inbound, context)
}
