// Remote playlists: maps documents to rows, and reads their elements.

import type { StoredActor } from '../../actors/actor/index.ts'
import type { RemoteElement, RemotePlaylists, SaveOptions, StoredPlaylist } from '../../actors/playlist/index.ts'
import { DomainError } from '../../actors/runtime/index.ts'
import { findVideoByUrl, isOpen } from '../../actors/video/index.ts'
import type { FederationDeps } from '../deps.ts'
import type { ObjectAt } from '../own-pages.ts'
import { isSameOrigin } from '../security/index.ts'
import {
  AS_PUBLIC,
  type JsonObject,
  type PlaylistDocument,
  type PlaylistElementDocument,
  readPlaylist,
  readPlaylistElement,
} from '../wire/index.ts'
import { walkCollection } from './collections.ts'
import { type FetchDocument, type FetchedDocument, isHopeless } from './documents.ts'
import type { ResolveOwners } from './owners.ts'
import type { VideoFetcher } from './videos.ts'

export type PlaylistFetcher = ReturnType<typeof makePlaylistFetcher>

type Deps = FederationDeps & {
  fetchDocument: FetchDocument
  resolveOwners: ResolveOwners
  objectAt: ObjectAt
  videos: VideoFetcher
  remotePlaylists: RemotePlaylists
}

/** Limit of elements of a playlist; each is a document of its own. */
const MAX_ELEMENTS = 1000

export function makePlaylistFetcher(deps: Deps) {
  const { db, urls, config, logger, fetchDocument, resolveOwners, objectAt, videos, remotePlaylists } = deps

  async function store(
    document: JsonObject,
    owner: { accountId: number | null } | undefined,
    options?: SaveOptions,
  ): Promise<{ stored: StoredPlaylist; playlist: PlaylistDocument }> {
    const read = readPlaylist(document)
    if (!read.ok) throw new DomainError('unprocessable', `This playlist cannot be read: ${read.problem}`)
    const playlist = read.value
    const { accountId, channel } = await resolveOwners(playlist)
    if (owner && owner.accountId !== accountId) {
      throw new DomainError('forbidden', `${channel.url} is a channel of another owner.`)
    }
    const { channelId } = channel
    const stored = await remotePlaylists.save(toRemotePlaylist(playlist, { accountId, channelId }), options)
    return { stored, playlist }
  }

  /** Refreshes a playlist and all its elements; removes one that is gone. Throws if a part cannot be fetched now. */
  async function refresh(id: number, signal: AbortSignal): Promise<void> {
    const known = await remotePlaylists.find({ id })
    if (!known) return
    const document = await fetchDocument(known.url).catch(async (error: unknown) => {
      if (!(error instanceof DomainError) || !GONE.has(error.kind)) throw error
      await remotePlaylists.remove(id, known)
      return undefined
    })
    if (!document) return
    const { stored, playlist } = await store(document.document, known, { askedAt: document.askedAt })
    if (stored.id !== id) throw new DomainError('forbidden', `${known.url} leads to another playlist now.`)
    // A cache on that server may be older than the Update; its elements would be too.
    if (playlist.updatedAt < stored.updatedAt) throw new Error(`${known.url} is still served as it was before.`)
    const found = await walk(playlist, signal)
    await remotePlaylists.putElements(id, { ...found, asOf: stored.updatedAt })
    if (found.missed.length > 0) throw new Error(`${found.missed.length} elements could not be had now.`)
    logger.info({ playlist: known.url, elements: found.elements.length }, 'a remote playlist was read')
  }

  /** Elements must be on the server of their playlist. Unusable ones are skipped. */
  async function walk(playlist: PlaylistDocument, signal: AbortSignal): Promise<{ elements: RemoteElement[]; missed: string[] }> {
    const elements: RemoteElement[] = []
    const missed: string[] = []
    const bounds = { maxPages: config().vireo.federation.backfill.max_pages, maxItems: MAX_ELEMENTS }
    const first = playlist.first ?? playlist.id
    if (playlist.totalItems === 0 || !isSameOrigin(first, playlist.id)) return { elements, missed }
    for await (const item of walkCollection(fetchDocument, first, bounds)) {
      signal.throwIfAborted()
      const url = typeof item === 'string' ? item : String(item.id)
      try {
        if (!isSameOrigin(url, playlist.id)) throw new DomainError('forbidden', `${url} is of another server.`)
        elements.push(await toElement(readElement((await fetchDocument(url)).document)))
      } catch (error) {
        if (!(error instanceof DomainError || isHopeless(error))) throw error
        logger.debug({ playlist: playlist.id, reason: String(error) }, 'an element of a playlist was passed over')
        if (!isHopeless(error)) missed.push(url)
      }
    }
    return { elements, missed }
  }

  async function toElement(element: PlaylistElementDocument): Promise<RemoteElement> {
    const { id: url, video, startTimestamp, stopTimestamp } = element
    return { url, startTimestamp, stopTimestamp, videoId: await videoIdOf(video) }
  }

  /** Local videos that are not public cannot have been added by others. */
  async function videoIdOf(address: string): Promise<number> {
    const url = await objectAt(address)
    if (!isSameOrigin(url, urls.origin)) return (await videos.resolve(url)).id
    const video = await findVideoByUrl(db, url)
    if (!video || !isOpen(video)) throw new DomainError('not_found', `${url} does not exist`)
    return video.id
  }

  return {
    /**
     * Stores a trusted document, for the given account if any; a job reads its elements. Throws DomainError `forbidden` if it names another
     * server.
     */
    async save(document: JsonObject, owner?: StoredActor): Promise<StoredPlaylist> {
      return (await store(document, owner, { thenRead: true })).stored
    },
    /** The stored playlist, fetched if it is unknown; `fetched`: a document that was fetched there already. Throws DomainError. */
    async resolve(url: string, { fetched }: { fetched?: FetchedDocument } = {}): Promise<StoredPlaylist> {
      const known = await remotePlaylists.find({ url })
      if (known) return known
      const { document, askedAt } = fetched ?? (await fetchDocument(url))
      return (await store(document, undefined, { thenRead: true, askedAt })).stored
    },
    refresh,
  }
}

/** An unreadable playlist counts as removed: the Delete of one that became private may have been lost. */
const GONE: ReadonlySet<string> = new Set(['not_found', 'gone', 'forbidden'])

function readElement(document: JsonObject): PlaylistElementDocument {
  const read = readPlaylistElement(document)
  if (!read.ok) throw new DomainError('unprocessable', `This element cannot be read: ${read.problem}`)
  return read.value
}

function toRemotePlaylist(playlist: PlaylistDocument, of: { accountId: number; channelId: number }) {
  const { id: url, uuid, name, description, to, cc, thumbnail, publishedAt, updatedAt } = playlist
  return {
    url,
    uuid,
    name,
    description,
    ...of,
    privacy: to.includes(AS_PUBLIC) || cc.includes(AS_PUBLIC) ? (1 as const) : (2 as const),
    thumbnailUrl: thumbnail?.url ?? null,
    createdAt: publishedAt,
    updatedAt,
  }
}
