// Walks from a reply up to its video: unknown parents are fetched, within limits of number and time, and stored from the top down.

import type { RemoteActors } from '../../actors/actor/index.ts'
import type { Comments, ReceivedComment } from '../../actors/comment/index.ts'
import { DomainError, type PassOn } from '../../actors/runtime/index.ts'
import { batched } from '../../platform/batched.ts'
import type { FederationDeps } from '../deps.ts'
import type { ObjectAt } from '../own-pages.ts'
import { isSameOrigin } from '../security/index.ts'
import { isPublic, type JsonObject, type NoteDocument, readNote, readReply, writtenIn } from '../wire/index.ts'
import type { ResolveActor } from './actors.ts'
import { type FetchDocument, isHopeless } from './documents.ts'

/** Place of a comment. `parentUrl` is null for the start of a thread. */
export interface Place {
  videoId: number
  parentUrl: string | null
}

export type Threads = ReturnType<typeof makeThreads>

interface ResolveOptions {
  signal: AbortSignal
  /** The video, if its server lists the comment, even if a parent cannot be fetched. */
  videoId?: number
}

interface Received {
  accountId: number
  /** The author's activity as received; null for a fetched comment. */
  activity: string | null
  /** When its server was asked. */
  askedAt?: Date
  passOn?: PassOn
}

const PLACES_AT_ONCE = 100

/** Limit of `attributedTo` entries that are tried as the author. */
const MAX_AUTHORS = 5

/** A parent on the way up. */
interface Link {
  url: string
  /** Null if it cannot be fetched. */
  inReplyTo: string | null
  /** The comment; null for other or deleted objects. */
  note: NoteDocument | null
  askedAt: Date
  createdAt: Date
  /** Private parents leave no trace: replies to them are attached to the next public ancestor. */
  isPublic: boolean
}

export function makeThreads(
  deps: FederationDeps & {
    fetchDocument: FetchDocument
    resolveActor: ResolveActor
    remoteActors: RemoteActors
    comments: Comments
    objectAt: ObjectAt
  },
) {
  const { db, config, clock, logger, urls, fetchDocument, resolveActor, comments, objectAt } = deps

  // Called for each incoming comment: concurrent calls share a statement.
  const storedPlaceOf = batched<string, Place | undefined>(
    async (urls) => {
      const rows = await db.query<{ url: string; videoId: number; isComment: boolean }>(
        `select asked.url, place.* from unnest((select $1::text[])) as asked (url), lateral (
           select id as "videoId", false as "isComment" from video where url_hash = md5(asked.url)::uuid and url = asked.url
           union all
           select video_id, true from comment where url_hash = md5(asked.url)::uuid and url = asked.url limit 1
         ) as place`,
        [[...new Set(urls)]],
      )
      const found = new Map(rows.map((row) => [row.url, row]))
      return urls.map((url) => {
        const place = found.get(url)
        return place && { videoId: place.videoId, parentUrl: place.isComment ? url : null }
      })
    },
    { max: PLACES_AT_ONCE },
  )

  /** The place of a reply to this address, if the parent is stored. */
  async function placeOf(url: string): Promise<Place | undefined> {
    const place = await storedPlaceOf(url)
    if (place || !urls.isLocal(url)) return place
    const id = await objectAt(url, { comments: true })
    return id === url ? undefined : await storedPlaceOf(id)
  }

  /**
   * The same, with parents fetched and stored; parents that are not usable comments become placeholders. Throws DomainError:
   * `unprocessable` for endless threads.
   */
  async function resolvePlace(inReplyTo: string, { signal, videoId }: ResolveOptions): Promise<Place> {
    const missing: Link[] = []
    const seen = new Set<string>()
    const until = clock.now().getTime() + config().vireo.federation.fetch.thread_timeout
    const { max_comment_recursion } = config().vireo.federation
    let at = inReplyTo
    let place = await placeOf(at)
    while (!place) {
      signal.throwIfAborted()
      if (missing.length >= max_comment_recursion) throw new DomainError('unprocessable', 'This thread is too deep.')
      if (seen.has(at)) throw new DomainError('unprocessable', 'This thread has no start.')
      seen.add(at)
      if (clock.now().getTime() > until) throw new DomainError('unprocessable', 'This thread took too long to fetch.')
      const link = await fetchLink(at, videoId)
      // It may have been requested by another address of a stored object.
      place = link.url === at ? undefined : await placeOf(link.url)
      if (place) break
      missing.push(link)
      if (link.inReplyTo === null) {
        if (videoId === undefined) throw new DomainError('unprocessable', `${link.url} answers nothing.`)
        place = { videoId, parentUrl: null }
      } else {
        at = link.inReplyTo
        place = await placeOf(at)
      }
    }
    for (const link of missing.toReversed()) {
      const isStored = await storeLink(link, place)
      if (isStored) place = { videoId: place.videoId, parentUrl: link.url }
    }
    return place
  }

  async function fetchLink(url: string, videoId: number | undefined): Promise<Link> {
    const now = clock.now()
    const lost = { url, inReplyTo: null, note: null, askedAt: now, createdAt: now, isPublic: !urls.isLocal(url) }
    try {
      if (urls.isLocal(url)) throw new DomainError('not_found', `${url} is nothing that is answered here.`)
      const { document, askedAt } = await fetchDocument(url)
      return linkOf(document, askedAt)
    } catch (error) {
      if (videoId === undefined || !isHopeless(error)) throw error
      return lost
    }
  }

  function linkOf(document: JsonObject, askedAt: Date): Link {
    const note = readNote(document)
    const read = note.ok ? note : readReply(document)
    if (!read.ok) {
      const { id } = document
      // A video by another one of its addresses.
      if (document.type === 'Video' && typeof id === 'string') {
        return { url: id, inReplyTo: null, note: null, askedAt, createdAt: askedAt, isPublic: false }
      }
      throw new DomainError('unprocessable', read.problem)
    }
    const { id: url, inReplyTo, publishedAt } = read.value
    return {
      url,
      inReplyTo,
      askedAt,
      note: note.ok ? note.value : null,
      createdAt: publishedAt ?? askedAt,
      // Tombstones have no recipients.
      isPublic: isPublic(read.value) || document.type === 'Tombstone',
    }
  }

  /** Returns true if the link has a place of its own now. */
  async function storeLink({ url, note, askedAt, createdAt, isPublic }: Link, place: Place): Promise<boolean> {
    if (!isPublic) return false
    try {
      if (note !== null) {
        await store(note, place, { accountId: await authorOf(note), activity: null, askedAt })
        return true
      }
    } catch (error) {
      if (!isHopeless(error)) throw error
      logger.debug({ comment: url, reason: String(error) }, 'a parent of a reply is no comment for us')
    }
    await comments.receiveTombstone({ url, ...place, createdAt })
    return true
  }

  /** Unsigned: the author is the one that its server names, on that server only. */
  async function authorOf(note: NoteDocument): Promise<number> {
    for (const url of note.attributedTo.slice(0, MAX_AUTHORS)) {
      if (!isSameOrigin(url, note.id)) continue
      const { accountId } = await resolveActor(url)
      if (accountId !== null) return accountId
    }
    throw new DomainError('forbidden', `${note.id} has no author of its own server.`)
  }

  /** Stores a comment whose parent is stored. */
  async function store(note: NoteDocument, place: Place, of: Received): Promise<ReceivedComment> {
    if (!isPublic(note)) throw new DomainError('forbidden', `${note.id} is not for everybody.`)
    return await comments.receiveComment({
      url: note.id,
      ...place,
      ...of,
      ...writtenIn(note),
      createdAt: note.publishedAt ?? clock.now(),
      mentions: await Promise.all(note.mentions.map(({ href }) => objectAt(href))),
    })
  }

  return {
    placeOf,
    resolvePlace,
    store,
    /** Stores an unsigned comment that was fetched from its server, with its parents. */
    async storeFetched(document: JsonObject, { askedAt, ...options }: ResolveOptions & { askedAt: Date }): Promise<void> {
      const read = readNote(document)
      if (!read.ok) throw new DomainError('unprocessable', read.problem)
      const place = await resolvePlace(read.value.inReplyTo, options)
      await store(read.value, place, { accountId: await authorOf(read.value), activity: null, askedAt })
    },
  }
}
