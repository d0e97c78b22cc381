// Dependencies of activity handlers, and their common guard.

import type { Abuses } from '../../actors/abuse/index.ts'
import type { RemoteActors, StoredActor } from '../../actors/actor/index.ts'
import type { CommentReviews, Comments, WaitingComments } from '../../actors/comment/index.ts'
import type { Follows } from '../../actors/follow/index.ts'
import type { IncomingActivities } from '../../actors/incoming-activity/index.ts'
import type { RemotePlaylists } from '../../actors/playlist/index.ts'
import type { Ratings } from '../../actors/rating/index.ts'
import type { Redundancies } from '../../actors/redundancy/index.ts'
import { DomainError } from '../../actors/runtime/index.ts'
import type { Shares } from '../../actors/share/index.ts'
import type { RemoteVideos } from '../../actors/video/index.ts'
import type { Views } from '../../actors/view/index.ts'
import type { FederationDeps } from '../deps.ts'
import type { ResolveActor } from '../fetch/actors.ts'
import type { FetchDocument } from '../fetch/documents.ts'
import type { ResolveOwners } from '../fetch/owners.ts'
import type { PlaylistFetcher } from '../fetch/playlists.ts'
import type { Threads } from '../fetch/threads.ts'
import type { VideoFetcher } from '../fetch/videos.ts'
import type { Sender } from '../outbound/sender.ts'
import type { ObjectAt } from '../own-pages.ts'
import { isSameOrigin } from '../security/index.ts'
import { type ActivityDocument, type JsonObject, type ObjectPart, type Read, typesOf } from '../wire/index.ts'
import type { InboundPolicy } from './policy/index.ts'
import type { ThirdPartyLimits } from './third-party-limits.ts'

export interface InboundContext extends FederationDeps {
  instanceActorId: () => Promise<number>
  sender: Sender
  fetchDocument: FetchDocument
  resolveActor: ResolveActor
  resolveOwners: ResolveOwners
  objectAt: ObjectAt
  videos: VideoFetcher
  playlists: PlaylistFetcher
  remoteActors: RemoteActors
  remoteVideos: RemoteVideos
  remotePlaylists: RemotePlaylists
  follows: Follows
  comments: Comments
  reviews: CommentReviews
  waitingComments: WaitingComments
  threads: Threads
  ratings: Ratings
  shares: Shares
  views: Views
  abuses: Abuses
  redundancies: Redundancies
  /** Stores a forwarded activity that is trusted. */
  arrive: IncomingActivities['store']
  hasArrived: IncomingActivities['knows']
  forOthers: ThirdPartyLimits
  policy: InboundPolicy
}

/** A verified activity, sent by `actor`. */
export interface Inbound {
  activity: ActivityDocument
  document: JsonObject
  /** Its row; null if it has none. */
  incomingId: number | null
  /** Time that the actor states; null without one. */
  saidAt: Date | null
  actor: StoredActor
}

export type Handler = (inbound: Inbound, context: InboundContext) => Promise<void>

/** Handlers for the object of an activity, by its type. */
export type ObjectHandlers = ReadonlyMap<string, (document: JsonObject, inbound: Inbound, context: InboundContext) => Promise<void>>

/** The value of a document. Throws DomainError `unprocessable` if it cannot be read. */
export function expectRead<T>(read: Read<T>): T {
  if (!read.ok) throw new DomainError('unprocessable', read.problem)
  return read.value
}

/** Properties of an object that is only a reference. */
const REFERENCE = new Set(['@context', '@id', '@type', 'id', 'type'])

/** Handles the object of an activity by the first of its types that has a handler. A reference is fetched. */
export async function treatObject(
  handlers: ObjectHandlers,
  { id, document: embedded }: ObjectPart,
  inbound: Inbound,
  context: InboundContext,
): Promise<void> {
  const handlerOf = (document: JsonObject) =>
    typesOf(document)
      .map((type) => handlers.get(type))
      .find(Boolean)
  const isNamed = embedded === null || Object.keys(embedded).every((name) => REFERENCE.has(name))
  if (id === null || (isNamed && embedded !== null && typesOf(embedded).length > 0 && !handlerOf(embedded))) return
  const document = isNamed ? (await context.fetchDocument(id)).document : embedded
  await handlerOf(document)?.(document, inbound, context)
}

/** Throws DomainError `forbidden` unless the object is on the actor's server. */
export function refuseForeign(objectId: string, actor: StoredActor): void {
  if (!isSameOrigin(objectId, actor.url)) {
    throw new DomainError('forbidden', `${actor.url} speaks of ${objectId}, which is of another server.`)
  }
}

/** An account's row. Throws DomainError if the actor is a channel. */
export function accountOf(actor: StoredActor): number {
  if (actor.accountId === null) throw new DomainError('unprocessable', `${actor.url} is no account.`)
  return actor.accountId
}
