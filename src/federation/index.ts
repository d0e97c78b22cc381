// The federation layer, assembled: entry points for inbound activities and reads, and ports for the other layers.

import type { Abuses } from '../actors/abuse/index.ts'
import type { RemoteActors } from '../actors/actor/index.ts'
import type { CommentReviews, Comments, WaitingComments } from '../actors/comment/index.ts'
import { registerDeliveries, retryHost } from '../actors/delivery/index.ts'
import type { Follows, HistoryWalks } from '../actors/follow/index.ts'
import { type InboundJournal, makeInboundJournal } from '../actors/inbound-decision/index.ts'
import { type ArrivedActivity, type IncomingActivities, makeIncomingActivities } from '../actors/incoming-activity/index.ts'
import type { InteractionCleaning } from '../actors/interaction/index.ts'
import type { RemotePlaylists } from '../actors/playlist/index.ts'
import type { Ratings } from '../actors/rating/index.ts'
import type { Redundancies } from '../actors/redundancy/index.ts'
import { makeRemoteHosts } from '../actors/remote-host/index.ts'
import type { ActorDeps } from '../actors/runtime/index.ts'
import type { Shares } from '../actors/share/index.ts'
import type { ArchiveDocuments } from '../actors/user-archive/index.ts'
import type { RemoteVideos } from '../actors/video/index.ts'
import type { Views } from '../actors/view/index.ts'
import type { Bus } from '../platform/bus/index.ts'
import { FetchError, type GuardedFetch } from '../platform/fetch/index.ts'
import { makeLimitStore } from '../platform/limit-stores.ts'
import type { LoopWatch } from '../platform/loop-watch.ts'
import type { Redis } from '../platform/redis.ts'
import { makeArchiveDocuments } from './archive/archive-documents.ts'
import { followIndex } from './auto-follow-index.ts'
import { fetchWhileEnabled, makeBlocked, sendUnblocked } from './blocked.ts'
import { announceChanges } from './changes.ts'
import { cleanInteractions } from './cleaner.ts'
import { makeSend } from './delivery/send.ts'
import type { FederationDeps } from './deps.ts'
import type { Software } from './dispatchers/node-info.ts'
import { makeServeActivityPub, type ServeActivityPub } from './dispatchers/serve.ts'
import { makeResolveActor } from './fetch/actors.ts'
import { makeDiscovery } from './fetch/discovery.ts'
import { makeFetchDocument } from './fetch/documents.ts'
import { makeResolveOwners } from './fetch/owners.ts'
import { makePlaylistFetcher } from './fetch/playlists.ts'
import { makeResolvePasted, type ResolvePasted } from './fetch/resolve.ts'
import { makeSubscribeAddress, type SubscribeAddress } from './fetch/subscribe-address.ts'
import { makeThreads } from './fetch/threads.ts'
import { makeVideoFetcher } from './fetch/videos.ts'
import { registerHistoryWalks } from './history.ts'
import { makeDispatchActivity } from './inbound/dispatch-activity.ts'
import { kindOf, makeCountOf, makeInboundPolicy } from './inbound/policy/index.ts'
import { makeReceiveActivity, type ReceiveActivity } from './inbound/receive.ts'
import { makeThirdPartyLimits } from './inbound/third-party-limits.ts'
import { makeVerifyLater } from './inbound/verify-later.ts'
import { registerFederationJobs } from './jobs.ts'
import { makeTableKvStore, RedisKv } from './kv.ts'
import { sendAccounts } from './outbound/account.ts'
import { sendActors } from './outbound/actor.ts'
import { sendComments } from './outbound/comment.ts'
import { sendFlags } from './outbound/flag.ts'
import { sendFollows } from './outbound/follow.ts'
import { sendPlaylists } from './outbound/playlist.ts'
import { sendRatings } from './outbound/rating.ts'
import { sendRedundancies } from './outbound/redundancy.ts'
import { makeSender } from './outbound/sender.ts'
import { sendVideos } from './outbound/video.ts'
import { sendViews } from './outbound/view.ts'
import { makeObjectAt } from './own-pages.ts'
import { registerPlaylistJobs } from './playlist-jobs.ts'
import { refreshStale } from './refresh/index.ts'
import { makeDocumentChecks } from './security/document-checks.ts'
import { makeKeyStore } from './security/key-store.ts'
import { registerThreadJobs } from './threads.ts'
import { makeUrls } from './urls.ts'

export { fetchUnblocked } from './blocked.ts'

export interface FederationOptions {
  deps: ActorDeps
  /** Refuses blocked servers. */
  http: GuardedFetch
  instanceActorId: () => Promise<number>
  remoteActors: RemoteActors
  remoteVideos: RemoteVideos
  remotePlaylists: RemotePlaylists
  follows: Follows
  histories: HistoryWalks
  cleaning: InteractionCleaning
  comments: Comments
  reviews: CommentReviews
  waitingComments: WaitingComments
  ratings: Ratings
  shares: Shares
  views: Views
  abuses: Abuses
  redundancies: Redundancies
  bus: Bus
  /** Storage for Fedify's key-value data; by default a table. */
  redis?: { connection: Redis; prefix: string } | undefined
  software: Software
  /** Attributes event loop time to activities. */
  loopWatch: Pick<LoopWatch, 'run'>
}

export interface FederationPart {
  serveActivityPub: ServeActivityPub
  /** Drops all cached documents after a change of the configuration. */
  forgetDocuments(): void
  /** A request changed something: no older document is served any more. */
  documentsChanged(): Promise<void>
  /** Unsubscribes and cleans up. */
  close(): Promise<void>
  receiveActivity: ReceiveActivity
  /** Log of activities that were not accepted as sent. */
  decisions: Pick<InboundJournal, 'flush'>
  /** For the operator. */
  retryHost: (host: string) => Promise<void>
  incoming: Pick<IncomingActivities, 'retryParked' | 'dropParked'>
  /** Resolves the text of a search, locally or remotely. */
  resolvePasted: ResolvePasted
  /** Documents for the archives of users. */
  archiveDocuments: ArchiveDocuments
  /** Where a visitor with a remote handle subscribes to a local actor. */
  subscribeAddress: SubscribeAddress
  /** True if a host answers a TLS handshake in plain HTTP; always false if plain HTTP is allowed. */
  speaksPlainHttp(host: string): Promise<boolean>
}

export function makeFederationPart(options: FederationOptions): FederationPart {
  const { deps: actorDeps, instanceActorId } = options
  const http = fetchWhileEnabled(options.http, actorDeps)
  const { origin, objectAddress, bucketOrigins } = actorDeps.urls
  const urls = makeUrls(origin, { addressOf: objectAddress, origins: bucketOrigins })
  const keys = makeKeyStore({ db: actorDeps.db, secrets: actorDeps.secrets, urls })
  const blocked = makeBlocked(actorDeps.db)
  const checks = makeDocumentChecks(actorDeps)
  const deps: FederationDeps = { ...actorDeps, urls, keys, checks, http, blocked }

  const objectAt = makeObjectAt({ db: actorDeps.db, urls })
  const hosts = makeRemoteHosts(actorDeps)
  const fetchDocument = makeFetchDocument({ ...deps, instanceActorId, hosts })
  const resolveActor = makeResolveActor({ ...deps, fetchDocument, remoteActors: options.remoteActors })
  const resolveOwners = makeResolveOwners({ ...deps, resolveActor })
  const videos = makeVideoFetcher({ ...deps, fetchDocument, resolveOwners, remoteVideos: options.remoteVideos })
  const playlists = makePlaylistFetcher({
    ...deps,
    fetchDocument,
    resolveOwners,
    objectAt,
    videos,
    remotePlaylists: options.remotePlaylists,
  })
  const threads = makeThreads({ ...options, ...deps, fetchDocument, resolveActor, objectAt })
  const sender = makeSender(deps)
  const journal = makeInboundJournal(deps)
  const policy = makeInboundPolicy(journal)
  const context = {
    ...options,
    ...deps,
    sender,
    fetchDocument,
    resolveActor,
    resolveOwners,
    objectAt,
    videos,
    playlists,
    threads,
    hosts,
    arrive: (activity: ArrivedActivity) => incoming.store(activity),
    hasArrived: (activity: Pick<ArrivedActivity, 'activityId' | 'actorUrl'>) => incoming.knows(activity),
    forOthers: makeThirdPartyLimits(deps),
    policy,
  }

  const discovery = makeDiscovery(deps)
  const treat = makeDispatchActivity(context)
  const incoming: IncomingActivities = makeIncomingActivities({
    ...actorDeps,
    treat: (activity) => options.loopWatch.run(`activity ${kindOf({ type: activity.type, object: null })}`, () => treat(activity)),
    verify: makeVerifyLater({ ...context, discovery }),
  })
  registerPlaylistJobs(context)
  registerDeliveries({ ...actorDeps, hosts, send: sendUnblocked(makeSend(deps), deps) })
  registerFederationJobs({ ...context, discovery })
  registerHistoryWalks(context)
  cleanInteractions(context)
  followIndex(deps)
  registerThreadJobs(context)
  refreshStale({ ...context, discovery })

  sendActors(deps, sender)
  sendFollows(deps, sender)
  sendVideos(context, sender)
  sendPlaylists(context, sender)
  sendComments(context, sender)
  sendAccounts(context, sender)
  sendRatings(deps, sender)
  sendViews(context, sender)
  sendFlags(deps, sender)
  sendRedundancies(deps, sender)

  const counts = makeLimitStore({
    redis: options.redis?.connection,
    prefix: `${options.redis?.prefix ?? ''}inbox:`,
    clock: deps.clock,
  })

  const kv = options.redis
    ? new RedisKv(options.redis.connection, { prefix: options.redis.prefix })
    : makeTableKvStore({ query: deps.db.query, clock: deps.clock })
  if ('sweep' in kv) {
    deps.registry.periodic('forget-expired-keys', { everyMs: () => 600_000, run: async () => void (await kv.sweep()) })
  }
  const reads = makeServeActivityPub({
    ...deps,
    kv,
    bus: options.bus,
    fetchDocument,
    resolveActor,
    software: options.software,
  })
  announceChanges(deps)

  return {
    serveActivityPub: reads.serveActivityPub,
    forgetDocuments: reads.forget,
    documentsChanged: reads.changed,
    async close() {
      reads.close()
      await journal.flush()
      await checks.close()
    },
    receiveActivity: makeReceiveActivity({
      ...deps,
      incoming,
      policy,
      countOf: makeCountOf({ ...deps, store: counts }),
    }),
    incoming,
    decisions: journal,
    retryHost: (host) => retryHost(hosts, host),
    resolvePasted: makeResolvePasted({ ...context, discovery }),
    archiveDocuments: makeArchiveDocuments(deps),
    subscribeAddress: makeSubscribeAddress({ ...deps, discovery }),
    async speaksPlainHttp(host) {
      const { allow_http, follow } = deps.config().vireo.federation
      if (allow_http) return false
      try {
        await http.fetch(`https://${host}/`, { method: 'HEAD', timeoutMs: follow.probe_timeout, redirect: 'manual' })
        return false
      } catch (error) {
        return isPlainHttpAnswer(error)
      }
    },
  }
}

/** OpenSSL reads the `H` of `HTTP/1.1 400` as a TLS record of an unknown version. */
function isPlainHttpAnswer(error: unknown): boolean {
  if (!(error instanceof FetchError)) return false
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    if ('code' in at && /WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST/.test(String(at.code))) return true
  }
  return false
}
