// Create: a remote video or playlist, a comment on a known video, or a copy or watch action of a local video.

import { readCacheFile, readCreate, readNote } from '../wire/index.ts'
import { receiveCacheFile } from './cache-file.ts'
import { expectRead, type Handler, type ObjectHandlers, refuseForeign, treatObject } from './context.ts'
import { receiveNote } from './note.ts'
import { storeRemotePlaylist } from './playlist.ts'
import { storeRemoteVideo } from './video.ts'
import { receiveWatchAction } from './view.ts'

/** By the type of the object. */
export const creations: ObjectHandlers = new Map([
  ['CacheFile', (document, inbound, context) => receiveCacheFile(expectRead(readCacheFile(document)), inbound, context)],
  ['Note', (document, inbound, context) => receiveNote(expectRead(readNote(document)), inbound, context)],
  ['Playlist', (document, { actor }, context) => storeRemotePlaylist(document, actor, context)],
  ['Video', (document, { actor }, context) => storeRemoteVideo(document, actor, context)],
  ['WatchAction', receiveWatchAction],
])

/** A created object must be on the server of its maker; unknown servers cannot cause other fetches. */
export const handleCreate: Handler = async (inbound, context) => {
  const { object } = expectRead(readCreate(inbound.document))
  if (object.id === null) return
  refuseForeign(object.id, inbound.actor)
  await treatObject(creations, object, inbound, context)
}
