// Videos and comments, dispatched as raw documents.

import type { Federation } from '@fedify/fedify/federation'
import { Note, Video } from '@fedify/vocab'
import { videoDocument } from '../documents/index.ts'
import { loadBundledContext } from '../security/contexts.ts'
import type { JsonObject } from '../wire/index.ts'
import type { DispatcherDeps, RequestData } from './deps.ts'

const OPTIONS = { contextLoader: loadBundledContext, documentLoader: loadBundledContext }

export function dispatchObjects(federation: Federation<RequestData>, deps: DispatcherDeps): void {
  const { db, urls } = deps

  federation.setObjectDispatcher(Video, '/videos/watch/{uuid}', async ({ data }) => {
    const found = data.videoId === undefined ? null : await videoDocument(db.query, urls, data.videoId)
    return found && asWritten(await Video.fromJsonLd(found.document, OPTIONS), found.document)
  })

  federation.setObjectDispatcher(Note, '/videos/watch/{uuid}/comments/{id}', async ({ data }) =>
    data.note === undefined ? null : asWritten(await Note.fromJsonLd(data.note, OPTIONS), data.note),
  )
}

/** Fedify returns a document unchanged only if it understands all of it: a video with a storyboard would lose every term of PeerTube's. */
const asWritten = <T extends Video | Note>(object: T, document: JsonObject): T => Object.assign(object, { toJsonLd: async () => document })
