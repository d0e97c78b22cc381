// Fedify's federation: local actors, their keys, videos, comments and WebFinger, dispatched under their addresses.

import { createFederation, type Federation, type KvStore } from '@fedify/fedify/federation'
import type { DocumentLoader } from '@fedify/vocab-runtime'
import { dispatchActors } from './dispatchers/actors.ts'
import type { DispatcherDeps, RequestData } from './dispatchers/deps.ts'
import { dispatchObjects } from './dispatchers/objects.ts'
import type { FetchDocument } from './fetch/documents.ts'
import { loadBundledContext } from './security/contexts.ts'

/** Creates Fedify with local store, loaders and dispatchers. Deliveries and inboxes are implemented outside of it. */
export function makeFederation(deps: DispatcherDeps & { kv: KvStore; fetchDocument: FetchDocument }): Federation<RequestData> {
  const { kv, urls, fetchDocument } = deps
  // Contexts are bundled; everything else goes through the guarded fetcher.
  const loadDocument: DocumentLoader = async (url) => {
    const bundled = await loadBundledContext(url).catch(() => undefined)
    if (bundled) return bundled
    const { document, id } = await fetchDocument(url)
    return { contextUrl: null, documentUrl: id, document }
  }
  const federation = createFederation<RequestData>({
    kv,
    origin: urls.origin,
    manuallyStartQueue: true,
    documentLoaderFactory: () => loadDocument,
    authenticatedDocumentLoaderFactory: () => loadDocument,
    contextLoaderFactory: () => loadBundledContext,
  })
  dispatchActors(federation, deps)
  dispatchObjects(federation, deps)
  return federation
}
