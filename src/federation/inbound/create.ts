// Create: a video or playlist of another server, or a comment on a video that we know.

import { type JsonObject, readCreate, readNote } from '../wire/index.ts'
import { expectRead, type Handler, refuseForeign } from './context.ts'
import { receiveNote } from './note.ts'
import { takePlaylist } from './playlist.ts'
import { takeVideo } from './video.ts'

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
    default:
      return
  }
}
