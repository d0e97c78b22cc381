// Update: a video, a comment, a playlist, an actor or a copy of a video changed. Only its own server says so.

import { DomainError } from '../../actors/runtime/index.ts'
import { toRemoteActor } from '../fetch/actors.ts'
import { readActor, readCacheFile, readNote, readUpdate } from '../wire/index.ts'
import { receiveCacheFile } from './cache-file.ts'
import { expectRead, type Handler, refuseForeign } from './context.ts'
import { updateNote } from './note.ts'
import { takePlaylist } from './playlist.ts'
import { takeVideo } from './video.ts'

const ACTOR_TYPES = ['Person', 'Group', 'Application', 'Service', 'Organization']

export const handleUpdate: Handler = async (inbound, context) => {
  const { document, actor } = inbound
  const { remoteActors, fetchDocument } = context
  const { object } = expectRead(readUpdate(document))
  if (object.id === null) return
  refuseForeign(object.id, actor)
  const embedded = object.document ?? (await fetchDocument(object.id)).document
  const type = object.type ?? embedded.type
  if (type === 'Video') {
    await takeVideo(embedded, actor, context)
  } else if (type === 'Playlist') {
    await takePlaylist(embedded, actor, context)
  } else if (type === 'CacheFile') {
    await receiveCacheFile(expectRead(readCacheFile(embedded)), inbound, context)
  } else if (type === 'Note') {
    await updateNote(expectRead(readNote(embedded)), inbound, context)
  } else if (ACTOR_TYPES.includes(String(type))) {
    const read = expectRead(readActor(embedded))
    if (read.id !== actor.url) throw new DomainError('forbidden', 'An actor only changes itself.')
    await remoteActors.save(toRemoteActor(read))
  }
}
