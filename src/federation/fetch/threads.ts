// The way up from a reply to its video: parents that are not stored are fetched, a bounded number of them in a bounded
// time, and stored from the top down.

import type { RemoteActors } from '../../actors/actor/index.ts'
import type { Comments, ReceivedComment } from '../../actors/comment/index.ts'
import { DomainError, type PassOn } from '../../actors/runtime/index.ts'
import { batched } from '../../platform/batched.ts'
import type { FederationDeps } from '../deps.ts'
import { isSameOrigin } from '../security/index.ts'
import { isPublic, type JsonObject, type NoteDocument, readNote, readTombstone } from '../wire/index.ts'
import type { ResolveActor } from './actors.ts'
import type { FetchDocument } from './documents.ts'

/** Where a comment belongs. `parentUrl` is null for the start of a thread. */
export interface Place {
  videoId: number
  parentUrl: string | null
}

export interface Threads {
  /** The place of what answers this address, as far as it is stored. */
  placeOf(inReplyTo: string): Promise<Place | undefined>
  /** The same, with parents fetched and stored. Throws DomainError: `unprocessable` for threads without end. */
  resolvePlace(inReplyTo: string, options: { signal: AbortSignal }): Promise<Place>
  /** Stores a comment that answers what is stored. */
  store(note: NoteDocument, place: Place, of: Received): Promise<ReceivedComment>
  /** A comment that nobody signed, found where it lives: stored with its parents. */
  storeFetched(document: JsonObject, options: { askedAt: Date; signal: AbortSignal }): Promise<void>
}

interface Received {
  accountId: number
  /** The activity of its author as it came; null for what was found on its server. */
  activity: string | null
  /** When its server was asked. */
  askedAt?: Date
  passOn?: PassOn
}

const PLACES_AT_ONCE = 100

/** Actors that a comment is attributed to and that are looked at for its author. */
const MAX_AUTHORS = 5

/** A parent on the way up: what was said, or what is left of it. */
type Link = { url: string; inReplyTo: string } & (
  | { kind: 'note'; note: NoteDocument; askedAt: Date }
  | { kind: 'stone'; createdAt: Date }
)

export function makeThreads(
  deps: FederationDeps & {
    fetchDocument: FetchDocument
    resolveActor: ResolveActor
    remoteActors: RemoteActors
    comments: Comments
  },
): Threads {
  const { db, config, clock, urls, fetchDocument, resolveActor, comments } = deps

  // Asked of each comment that comes: those of the same moment share a statement.
  const placeOf = batched<string, Place | undefined>(
    async (urls) => {
      const rows = await db.query<{ url: string; videoId: number; isComment: boolean }>(
        `select asked.url, place.* from unnest($1::text[]) as asked (url), lateral (
           select id as "videoId", false as "isComment" from video where url_hash = md5(asked.url)::uuid and url = asked.url
           union all
           select video_id, true from comment where url_hash = md5(asked.url)::uuid and url = asked.url limit 1
         ) as place`,
        [[...new Set(urls)]],
        { prepared: true },
      )
      const found = new Map(rows.map((row) => [row.url, row]))
      return urls.map((url) => {
        const place = found.get(url)
        return place && { videoId: place.videoId, parentUrl: place.isComment ? url : null }
      })
    },
    { max: PLACES_AT_ONCE },
  )

  async function resolvePlace(inReplyTo: string, { signal }: { signal: AbortSignal }): Promise<Place> {
    const missing: Link[] = []
    const until = clock.now().getTime() + config().vireo.federation.fetch.thread_timeout
    const { max_comment_recursion } = config().vireo.federation
    let at = inReplyTo
    let place = await placeOf(at)
    while (!place) {
      signal.throwIfAborted()
      if (missing.length >= max_comment_recursion) throw new DomainError('unprocessable', 'This thread is too deep.')
      if (missing.some((link) => link.url === at)) throw new DomainError('unprocessable', 'This thread has no start.')
      if (clock.now().getTime() > until) throw new DomainError('unprocessable', 'This thread takes too long to fetch.')
      const link = await fetchLink(at)
      missing.push(link)
      at = link.inReplyTo
      place = await placeOf(at)
    }
    for (const link of missing.toReversed()) {
      await storeLink(link, place)
      place = { videoId: place.videoId, parentUrl: link.url }
    }
    return place
  }

  async function fetchLink(url: string): Promise<Link> {
    if (urls.isOurs(url)) throw new DomainError('not_found', `${url} is nothing that is answered here.`)
    const { document, askedAt } = await fetchDocument(url)
    if (document.type === 'Video') throw new DomainError('not_found', `${url} is a video that nobody here follows.`)
    const stone = document.type === 'Tombstone' ? readTombstone(document) : undefined
    if (stone?.ok && stone.value.inReplyTo !== null) {
      const { id, inReplyTo, publishedAt, deletedAt } = stone.value
      return { kind: 'stone', url: id, inReplyTo, createdAt: publishedAt ?? deletedAt ?? clock.now() }
    }
    const read = readNote(document)
    if (!read.ok) throw new DomainError('unprocessable', read.problem)
    const { id, inReplyTo } = read.value
    // Whoever told of it knows it by that address.
    if (id !== url) throw new DomainError('unprocessable', `${url} leads to another comment.`)
    return { kind: 'note', url: id, inReplyTo, note: read.value, askedAt }
  }

  async function storeLink(link: Link, place: Place): Promise<void> {
    if (link.kind === 'note') {
      const { askedAt, note } = link
      return void (await store(note, place, { accountId: await authorOf(note), activity: null, askedAt }))
    }
    await comments.receiveTombstone({ url: link.url, ...place, createdAt: link.createdAt })
  }

  /** Nobody signed it: its author is whom its server says, of that server alone. */
  async function authorOf(note: NoteDocument): Promise<number> {
    for (const url of note.attributedTo.slice(0, MAX_AUTHORS)) {
      if (!isSameOrigin(url, note.id)) continue
      const { accountId } = await resolveActor(url)
      if (accountId !== null) return accountId
    }
    throw new DomainError('forbidden', `${note.id} has no author of its own server.`)
  }

  async function store(note: NoteDocument, place: Place, of: Received) {
    if (!isPublic(note)) throw new DomainError('forbidden', `${note.id} is not for everybody.`)
    return await comments.receiveComment({
      url: note.id,
      ...place,
      ...of,
      content: note.content,
      mediaType: note.mediaType,
      createdAt: note.publishedAt,
      mentions: note.mentions.map(({ href }) => href),
    })
  }

  return {
    placeOf,
    resolvePlace,
    store,
    async storeFetched(document, { askedAt, signal }) {
      const read = readNote(document)
      if (!read.ok) throw new DomainError('unprocessable', read.problem)
      const place = await resolvePlace(read.value.inReplyTo, { signal })
      await store(read.value, place, { accountId: await authorOf(read.value), activity: null, askedAt })
    },
  }
}
