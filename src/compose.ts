// The composition root: the only file that knows every part. Starts the services, puts the nouns together, serves.

import { migrations } from '../migrations/index.ts'
import { makeAbuseMessages, makeAbuses } from './actors/abuse/index.ts'
import { makeLookedAtActor, makeRemoteActors, registerActorTotals } from './actors/actor/index.ts'
import { makeActorImages } from './actors/actor-image/index.ts'
import { endBlockedFollows, makeBlocklist } from './actors/blocklist/index.ts'
import { makeCaptions } from './actors/caption/index.ts'
import { makeChannels, spreadSupport } from './actors/channel/index.ts'
import { makeChannelRemoval } from './actors/channel-removal/index.ts'
import { makeChapters } from './actors/chapter/index.ts'
import {
  keepCommentTotals,
  makeCommentReviews,
  makeComments,
  makeRemoveCommentsOf,
  makeWaitingComments,
} from './actors/comment/index.ts'
import { entities } from './actors/entities.ts'
import { followBack, keepFollowCounts, makeFollows, makeHistoryWalks } from './actors/follow/index.ts'
import { makeHistory } from './actors/history/index.ts'
import { makeInstance, makeInstanceFacts } from './actors/instance/index.ts'
import { makeMailLinks, sendMails } from './actors/mail/index.ts'
import { makeNotificationSettings } from './actors/notification/index.ts'
import { makeOwnershipChanges } from './actors/ownership-change/index.ts'
import { makePlaylistElements, makePlaylists, makeRemotePlaylists } from './actors/playlist/index.ts'
import { makeRatings } from './actors/rating/index.ts'
import { downloadRedundancies, makeRedundancies } from './actors/redundancy/index.ts'
import { makeRegistrations } from './actors/registration/index.ts'
import { type ActorDeps, isDeadHere, keepJobHistoryShort, leaseOwner, makeRuntime } from './actors/runtime/index.ts'
import { makeRuntimeConfig, makeStoredOverrides } from './actors/runtime-config/index.ts'
import { makeScopedTokens, makeSessions } from './actors/session/index.ts'
import { makeShares } from './actors/share/index.ts'
import { makeStoryboards } from './actors/storyboard/index.ts'
import { makeSubscriptions } from './actors/subscription/index.ts'
import { makeTranscodings } from './actors/transcoding/index.ts'
import { makeTwoFactor } from './actors/two-factor/index.ts'
import { makeUploads } from './actors/upload/index.ts'
import {
  makeEmailVerification,
  makeManageUsers,
  makeOperator,
  makePasswordReset,
  makeUpdateMe,
  makeUsers,
  type Operator,
} from './actors/user/index.ts'
import { makeUserRemoval } from './actors/user-removal/index.ts'
import {
  announceVideoChanges,
  makeCreateVideo,
  makeFileTokens,
  makeInspectFile,
  makeLookedAt,
  makePendingFiles,
  makePlaceFiles,
  makeRemoteVideos,
  makeRemoveVideo,
  makeReplaceSource,
  makeUpdateVideo,
  makeVideoPasswords,
  registerCounters,
  registerListing,
  registerScores,
} from './actors/video/index.ts'
import { makeVideoBlocks } from './actors/video-block/index.ts'
import { makeViews } from './actors/view/index.ts'
import { type LoadedConfig, makeConfigSource } from './config/index.ts'
import { openDatabaseServer, redisAddress, storePlaces, withTls } from './connections.ts'
import { fetchUnblocked, makeFederationPart } from './federation/index.ts'
import { makeUrls } from './federation/urls.ts'
import { abusesArea } from './http/abuses/routes.ts'
import { accountsArea } from './http/accounts/routes.ts'
import { activityPubArea } from './http/activitypub/routes.ts'
import { makeReceiveImage } from './http/actor-images/receive-image.ts'
import { makeApp } from './http/app.ts'
import { blocklistsArea } from './http/blocklists/routes.ts'
import { bulkArea } from './http/bulk/routes.ts'
import { captionsArea } from './http/captions/routes.ts'
import { chaptersArea } from './http/chapters/routes.ts'
import { commentListsArea } from './http/comments/lists.ts'
import { commentsArea } from './http/comments/routes.ts'
import { instanceImagesArea } from './http/config/instance-images.ts'
import { configArea } from './http/config/routes.ts'
import { debugArea } from './http/debug/routes.ts'
import { historyArea } from './http/history/routes.ts'
import { inboxArea } from './http/inbox/routes.ts'
import { lazyStaticArea } from './http/lazy-static/routes.ts'
import { myAvatarArea } from './http/me/avatar.routes.ts'
import { meArea } from './http/me/routes.ts'
import { oauthArea } from './http/oauth/routes.ts'
import { scopedTokensArea } from './http/oauth/scoped-tokens.ts'
import { overviewsArea } from './http/overviews/routes.ts'
import { pagesArea } from './http/pages/routes.ts'
import { peersArea } from './http/peers/routes.ts'
import { pingArea } from './http/ping/routes.ts'
import { ratingsArea } from './http/ratings/routes.ts'
import { redundancyArea } from './http/redundancy/routes.ts'
import { registrationsArea } from './http/registrations/routes.ts'
import { searchArea } from './http/search/routes.ts'
import { listen } from './http/server.ts'
import { serverFollowsArea } from './http/server-follows/routes.ts'
import { servicesArea } from './http/services/routes.ts'
import { staticArea } from './http/static/routes.ts'
import { storyboardsArea } from './http/storyboards/routes.ts'
import { subscriptionsArea } from './http/subscriptions/routes.ts'
import { twoFactorArea } from './http/two-factor/routes.ts'
import { uploadsArea } from './http/uploads/routes.ts'
import { userMailsArea } from './http/user-mails/routes.ts'
import { usersArea } from './http/users/routes.ts'
import { videoBlocksArea } from './http/video-blocks/routes.ts'
import { channelImagesArea } from './http/video-channels/images.routes.ts'
import { videoChannelsArea } from './http/video-channels/routes.ts'
import { videoOwnershipArea } from './http/video-ownership/routes.ts'
import { videoPasswordsArea } from './http/video-passwords/routes.ts'
import { playlistElementsArea } from './http/video-playlists/elements.routes.ts'
import { makeKeepFresh } from './http/video-playlists/keep-fresh.ts'
import { playlistsArea } from './http/video-playlists/routes.ts'
import { videoSourceArea } from './http/video-source/routes.ts'
import { videoStatsArea } from './http/video-stats/routes.ts'
import { videoTokensArea } from './http/video-tokens/routes.ts'
import { makeVideoAnswers } from './http/videos/answers.ts'
import { videosArea } from './http/videos/routes.ts'
import { viewsArea } from './http/views/routes.ts'
import { wellKnownArea } from './http/well-known/routes.ts'
import { findFfmpeg, makeFileStore } from './media/index.ts'
import { makeBus } from './platform/bus/index.ts'
import { type Clock, systemClock } from './platform/clock.ts'
import { makeDataFolder } from './platform/data-folder.ts'
import { makeDatabase } from './platform/database/index.ts'
import { makeGuardedFetch } from './platform/fetch/index.ts'
import { randomToken } from './platform/ids.ts'
import type { Logger } from './platform/logger.ts'
import { makeMailer } from './platform/mailer.ts'
import { makePasswords } from './platform/passwords.ts'
import { makeQueue } from './platform/queue/index.ts'
import { connectRedis } from './platform/redis.ts'
import { loadOrCreateSecret, makeSecrets } from './platform/secrets.ts'
import { makeSignedTokens } from './platform/signed-tokens.ts'
import { REQUIRED } from './required.ts'
import { type Role, runtimeSettings } from './runtime-settings.ts'
import { COMMIT, VERSION } from './version.ts'

export interface ServerOptions {
  loaded: LoadedConfig
  logger: Logger
  roles: readonly Role[]
  clock?: Clock
  /** Compare every answer with its schema (tests). */
  checkResponses?: boolean
  /** Told of every route of the HTTP application (tests). */
  onRoute?: Parameters<typeof makeApp>[0]['onRoute']
  /** Of the user `root`, on the first start; a random one when left out. */
  rootPassword?: string
  /** Told of the first start's credentials as soon as they are stored, whatever happens afterwards. */
  onFirstStart?: (credentials: Credentials) => void
}

export interface Credentials {
  clientId: string
  clientSecret: string
  username: string
  password: string
}

export interface Server {
  /** Public origin. */
  url: string
  /** Where it listens; null without the role `web`. */
  address: { hostname: string; port: number } | null
  /** For the command line. */
  operator: Operator
  /** Drains and stops everything that was started. */
  stop(): Promise<void>
}

/** Starts a server. Throws an Error of one clear line when something that it needs cannot be had; nothing stays running. */
export async function startServer(options: ServerOptions): Promise<Server> {
  const closers: (() => Promise<void>)[] = []
  // The last thing started ends first; one that fails to end does not keep the others running.
  const stop = async () => {
    const failures: unknown[] = []
    for (const close of closers.splice(0).reverse()) await close().catch((error) => failures.push(error))
    if (failures.length > 0) throw new AggregateError(failures, 'Parts of the server did not stop cleanly.')
  }
  try {
    return await start(options, closers, stop)
  } catch (error) {
    await stop().catch((cause) => options.logger.error({ err: cause }, 'the server did not stop cleanly'))
    throw error
  }
}

async function start(
  options: ServerOptions,
  closers: (() => Promise<void>)[],
  stop: () => Promise<void>,
): Promise<Server> {
  const { loaded, logger, roles, clock = systemClock } = options
  makeDataFolder(loaded.dataDir)
  const source = makeConfigSource(loaded)
  const config = source.current

  const { url: databaseUrl, ...connection } = await openDatabaseServer(options, closers)
  const db = await makeDatabase({ url: databaseUrl, ...connection, entities, migrations, logger })
  closers.push(() => db.close())
  const migrated = await db.migrate()
  if (migrated.length > 0) logger.info({ migrations: migrated }, 'the schema was brought up to date')

  // Before anything else reads the configuration.
  const stored = makeStoredOverrides({ db, source, logger })
  await stored.load()

  const redis = loaded.redis ? redisAddress(loaded.redis) : undefined
  const prefix = `vireo-${config().webserver.hostname}-${config().webserver.port}`
  const postgresBackend = { kind: 'postgres', connectionString: withTls(databaseUrl, connection) } as const
  const [queue, bus, limits] = await Promise.all([
    makeQueue({
      backend: redis ? { kind: 'redis', redis } : { ...postgresBackend, schema: 'bullmq' },
      prefix,
      logger,
    }),
    makeBus({ backend: redis ? { kind: 'redis', redis } : postgresBackend, prefix, logger }),
    redis ? connectRedis({ address: redis, logger }) : undefined,
  ])
  closers.push(
    () => queue.close(),
    () => bus.close(),
  )
  if (limits) closers.push(async () => void limits.disconnect())

  const secret = await loadOrCreateSecret({ configured: config().secrets.peertube, dataDir: loaded.dataDir })
  const runtime = makeRuntime({
    db,
    queue,
    bus,
    clock,
    logger,
    settings: () => runtimeSettings(config(), roles),
  })
  const deps: ActorDeps = {
    db,
    tell: runtime.tell,
    registry: runtime.registry,
    clock,
    logger,
    config,
    secrets: makeSecrets({ secret }),
    urls: makeUrls(loaded.publicUrl),
  }

  const instance = makeInstance(deps)
  const runtimeConfig = makeRuntimeConfig({ ...deps, source, stored, bus, instanceActorId: instance.actorId })
  closers.push(async () => runtimeConfig.close())
  const passwords = makePasswords()
  const users = { ...makeUsers({ ...deps, passwords }), ...makeManageUsers({ ...deps, passwords }) }
  const sessions = makeSessions({ ...deps, passwords })
  const twoFactor = makeTwoFactor({ ...deps, passwords })
  const signedTokens = makeSignedTokens(deps)
  const links = makeMailLinks({ ...deps, signedTokens })
  sendMails({ ...deps, links, mailer: makeMailer({ settings: () => config().smtp }) })
  const registrations = makeRegistrations({ ...deps, users, passwords, links })
  const emailVerification = makeEmailVerification({ ...deps, links })
  const passwordReset = makePasswordReset({ ...deps, links, passwords })
  const follows = makeFollows(deps)
  keepFollowCounts(runtime.registry)
  const blocklist = makeBlocklist(deps)
  endBlockedFollows({ ...deps, follows })
  const abuses = makeAbuses(deps)
  followBack({ ...deps, instanceActorId: instance.actorId })
  keepJobHistoryShort(deps)

  const { ffmpeg_path, ffprobe_path } = config().vireo.media
  const ffmpeg = await findFfmpeg({ ffmpegPath: ffmpeg_path ?? undefined, ffprobePath: ffprobe_path ?? undefined })
  const leases = { owner: leaseOwner(), isGone: isDeadHere }
  const store = makeFileStore({ ...storePlaces(config()), owner: leases.owner })
  runtime.registry.periodic('incoming-files', {
    everyMs: () => 60_000,
    run: async () => {
      await store.sweep({ olderThanMs: 24 * 3_600_000, now: clock.now(), isGone: leases.isGone })
    },
  })
  const pendingFiles = makePendingFiles({ db, store, clock, leases })
  const placeFiles = makePlaceFiles({ ...deps, store })
  const media = { ...deps, store, ffmpeg, pendingFiles, placeFiles, leases }
  const inspectFile = makeInspectFile(media)
  const createVideo = makeCreateVideo({ ...media, inspectFile })
  const replaceSource = makeReplaceSource({ ...media, inspectFile })
  const uploads = makeUploads({ ...media, createVideo, replaceSource })
  makeTranscodings(media)
  makeStoryboards(media)
  const videos = { ...makeUpdateVideo(media), ...makeRemoveVideo(media) }
  const captions = makeCaptions({ ...media, changeParts: videos.changeParts })
  const chapters = makeChapters(videos)
  const ownershipChanges = makeOwnershipChanges(deps)
  const videoBlocks = makeVideoBlocks(media)
  const actorImages = makeActorImages(media)
  const channels = makeChannels(deps)
  spreadSupport({ ...deps, videos })
  const comments = makeComments(deps)
  keepCommentTotals(deps)
  const reviews = makeCommentReviews(deps)
  const waitingComments = makeWaitingComments(deps)
  const bulkComments = makeRemoveCommentsOf({ ...deps, comments })
  const ratings = makeRatings(deps)
  const playlists = makePlaylists(media)
  const remotePlaylists = makeRemotePlaylists(deps)
  registerCounters(deps)
  registerActorTotals(deps)
  registerScores(deps)
  registerListing(deps)
  announceVideoChanges(runtime.registry)
  const views = makeViews(deps)
  const history = makeHistory(deps)

  // The only way out: nothing private, nothing blocked.
  const http = fetchUnblocked(
    makeGuardedFetch({
      allowHttp: config().vireo.federation.allow_http,
      allowPrivateAddresses: config().vireo.federation.allow_private_addresses,
      timeoutMs: config().vireo.federation.fetch.timeout,
      maxRedirects: config().vireo.federation.fetch.max_redirects,
      userAgent: `Vireo/${VERSION} (+${loaded.publicUrl})`,
      logger,
    }),
    db,
  )
  closers.push(() => http.close())
  const redundancies = makeRedundancies({ ...deps, instanceActorId: instance.actorId })
  downloadRedundancies({ ...media, http, redundancies })
  const remoteActors = makeRemoteActors(deps)
  const federation = makeFederationPart({
    deps,
    http,
    instanceActorId: instance.actorId,
    remoteActors,
    remoteVideos: makeRemoteVideos({ ...deps, pendingFiles }),
    remotePlaylists,
    follows,
    histories: makeHistoryWalks(deps),
    comments,
    reviews,
    waitingComments,
    ratings,
    shares: makeShares(deps),
    views,
    abuses,
    redundancies,
    bus,
    redis: limits && { connection: limits, prefix: `${prefix}:kv:` },
    software: { name: 'vireo', version: VERSION },
  })
  closers.push(async () => federation.close())
  // After federation, whose reactions to the end of an account or channel come first.
  makeUserRemoval({ ...deps, uploads, videos, comments, playlists, ratings, follows })
  makeChannelRemoval({ ...deps, videos, playlists, follows })
  const facts = makeInstanceFacts({ ...deps, bus, actorId: instance.actorId })
  closers.push(async () => facts.close())
  const answers = makeVideoAnswers({ config, bus, clock })
  closers.push(async () => answers.close())
  source.onChange(() => {
    runtime.adapt()
    federation.forgetDocuments()
    answers.clear()
  })
  runtime.registry.seal(REQUIRED)

  await firstStart()
  await runtime.start()
  closers.push(() => runtime.stop(config().vireo.runtime.drain_timeout))

  return { url: loaded.publicUrl, address: await serve(), operator: makeOperator({ db, users }), stop }

  async function firstStart(): Promise<void> {
    await instance.ensure()
    const password = options.rootPassword ?? randomToken(8)
    if (!(await users.ensureRoot({ password }))) return
    const client = await instance.localClient()
    options.onFirstStart?.({
      clientId: client.client_id,
      clientSecret: client.client_secret,
      username: 'root',
      password,
    })
  }

  /** A picture of another server, whole; refused when it is larger than `maxBytes`. */
  async function fetchRemoteFile(url: string, maxBytes: number): Promise<Buffer> {
    const answer = await http.fetch(url, {
      maxBytes,
      timeoutMs: config().vireo.federation.fetch.file_timeout,
    })
    if (answer.status !== 200) throw new Error(`${url} answered ${answer.status}`)
    return answer.body
  }

  async function serve(): Promise<Server['address']> {
    if (!roles.includes('web')) return null
    const fileTokens = makeFileTokens({ db, clock, signedTokens })
    const keepFresh = makeKeepFresh({ ...deps, remotePlaylists })
    const receiveImage = makeReceiveImage({ uploads, config })
    const lookedAtActor = makeLookedAtActor({ ...deps, remoteActors })
    const app = await makeApp({
      config,
      logger,
      publicUrl: loaded.publicUrl,
      authenticate: sessions.authenticate,
      ...(limits ? { rateLimitRedis: limits } : {}),
      checkResponses: options.checkResponses ?? false,
      ...(options.onRoute ? { onRoute: options.onRoute } : {}),
      version: VERSION,
      clock,
      written: answers.changed,
      areas: [
        oauthArea({ instance, sessions }),
        scopedTokensArea({ scopedTokens: makeScopedTokens(deps) }),
        twoFactorArea({ twoFactor }),
        configArea({ config, runtimeConfig, facts, software: { version: VERSION, commit: COMMIT } }),
        pingArea,
        usersArea({ db, config, urls: deps.urls, users }),
        meArea({
          ...{ db, config, urls: deps.urls },
          updateMe: makeUpdateMe({ ...deps, passwords }),
          notificationSettings: makeNotificationSettings(deps),
        }),
        myAvatarArea({ actorImages, receiveImage }),
        instanceImagesArea({ instanceActorId: instance.actorId, actorImages, receiveImage, facts }),
        accountsArea({ db, config, urls: deps.urls, lookedAtActor }),
        videoChannelsArea({ db, config, urls: deps.urls, channels, lookedAtActor }),
        channelImagesArea({ db, urls: deps.urls, actorImages, receiveImage }),
        commentListsArea({ db, config, urls: deps.urls }),
        registrationsArea({ db, config, registrations }),
        userMailsArea({ emailVerification, passwordReset }),
        videosArea({
          ...{ db, config, urls: deps.urls, videos, uploads, answers },
          fitPicture: createVideo.fitPicture,
          lookedAt: makeLookedAt(deps),
        }),
        videoOwnershipArea({ db, config, urls: deps.urls, ownershipChanges }),
        videoBlocksArea({ db, config, urls: deps.urls, videoBlocks }),
        videoPasswordsArea({ db, config, videoPasswords: makeVideoPasswords(deps) }),
        videoTokensArea({ db, fileTokens }),
        videoSourceArea({ db, config, urls: deps.urls, uploads, replaceSource }),
        captionsArea({ db, config, captions, uploads }),
        chaptersArea({ db, chapters }),
        storyboardsArea({ db }),
        uploadsArea({ uploads, config, host: deps.urls.host }),
        abusesArea({ db, config, urls: deps.urls, abuses, messages: makeAbuseMessages(deps) }),
        blocklistsArea({ db, config, urls: deps.urls, blocklist }),
        commentsArea({ db, config, urls: deps.urls, logger, comments, reviews, waitingComments }),
        bulkArea({ comments: bulkComments }),
        ratingsArea({ db, ratings }),
        playlistsArea({ db, config, urls: deps.urls, playlists, uploads, keepFresh }),
        playlistElementsArea({
          ...{ db, config, urls: deps.urls, keepFresh },
          elements: makePlaylistElements(deps),
        }),
        viewsArea({ db, views, history }),
        historyArea({ db, config, urls: deps.urls, history }),
        videoStatsArea({ db, clock, config }),
        serverFollowsArea({
          ...deps,
          follows,
          instanceActorId: instance.actorId,
          speaksPlainHttp: federation.speaksPlainHttp,
        }),
        redundancyArea({ db, config, redundancies }),
        peersArea({ ...deps, hosts: federation.hosts, incoming: federation.incoming }),
        debugArea({ db, run: runtime.sweeper.run }),
        inboxArea({
          receiveActivity: federation.receiveActivity,
          urls: deps.urls,
          maxBodySize: config().vireo.federation.inbox.max_body_size,
        }),
        wellKnownArea({ config, clock }),
        activityPubArea({ serveActivityPub: federation.serveActivityPub }),
        staticArea({ db, store, config, fileTokens }),
        lazyStaticArea({ db, store, config, logger, fetchRemoteFile, fileTokens }),
        searchArea({ db, config, urls: deps.urls, resolvePasted: federation.resolvePasted }),
        overviewsArea({ db, config, clock, urls: deps.urls }),
        subscriptionsArea({
          ...{ db, config, urls: deps.urls },
          subscriptions: makeSubscriptions({ ...deps, follows }),
        }),
        servicesArea({ db, config, urls: deps.urls }),
        pagesArea({ db, config, urls: deps.urls }),
      ],
    })
    closers.push(() => app.close())
    return await listen(app, config().listen)
  }
}
