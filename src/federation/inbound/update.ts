// Update: a video, a comment, a playlist, an actor or a copy of a video changed. Only its own server can send it.

import { DomainError } from '../../actors/runtime/index.ts'
import { toRemoteActor } from '../fetch/actors.ts'
import { type JsonObject, readActor, readCacheFile, readNote, readUpdate } from '../wire/index.ts'
import { receiveCacheFile } from './cache-file.ts'
import { expectRead, type Handler, type Inbound, type InboundContext, type ObjectHandlers, refuseForeign, treatObject } from './context.ts'
import { updateNote } from './note.ts'
import { storeRemotePlaylist } from './playlist.ts'
import { storeRemoteVideo } from './video.ts'

const ACTOR_TYPES = ['Person', 'Group', 'Application', 'Service', 'Organization']

/** By the type of the object. */
export const changes: ObjectHandlers = new Map([
  ...ACTOR_TYPES.map((type) => [type, updateActor] as const),
  ['CacheFile', (document, inbound, context) => receiveCacheFile(expectRead(readCacheFile(document)), inbound, context)],
  ['Note', (document, inbound, context) => updateNote(expectRead(readNote(document)), inbound, context)],
  ['Playlist', (document, { actor }, context) => storeRemotePlaylist(document, actor, context)],
  ['Video', (document, { actor }, context) => storeRemoteVideo(document, actor, context)],
])

export const handleUpdate: Handler = async (inbound, context) => {
  const { object } = expectRead(readUpdate(inbound.document))
  if (object.id === null) return
  refuseForeign(object.id, inbound.actor)
  await treatObject(changes, object, inbound, context)
}

async function updateActor(document: JsonObject, { actor }: Inbound, { remoteActors }: InboundContext): Promise<void> {
  const read = expectRead(readActor(document))
  if (read.id !== actor.url) throw new DomainError('forbidden', 'An actor only changes itself.')
  await remoteActors.save(toRemoteActor(read))
}
