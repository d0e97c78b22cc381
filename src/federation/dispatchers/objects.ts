// Videos and comments, dispatched as the raw documents that they are.

import type { Federation } from '@fedify/fedify/federation'
import { Note, Video } from '@fedify/vocab'
import { videoDocument } from '../documents/index.ts'
import { loadBundledContext } from '../security/contexts.ts'
import type { DispatcherDeps, RequestData } from './deps.ts'

const OPTIONS = { contextLoader: loadBundledContext, documentLoader: loadBundledContext }

export function dispatchObjects(federation: Federation<RequestData>, deps: DispatcherDeps): void {
  const { db, urls } = deps

  federation.setObjectDispatcher(Video, '/videos/watch/{uuid}', async ({ data }) => {
    const found = data.videoId === undefined ? null : await videoDocument(db.query, urls, data.videoId)
    return found && (await Video.fromJsonLd(found.document, OPTIONS))
  })

  federation.setObjectDispatcher(Note, '/videos/watch/{uuid}/comments/{id}', async ({ data }) =>
    data.note === undefined ? null : await Note.fromJsonLd(data.note, OPTIONS),
  )
}
