// Makes all parts of a server, floor by floor: each depends on those above it. Nothing runs yet.

import { maintainAbuseTotals, makeAbuses } from '../actors/abuse/index.ts'
import { makeRemoteActors, registerActorTotals } from '../actors/actor/index.ts'
import { makeActorImages } from '../actors/actor-image/index.ts'
import { pruneAuditLog } from '../actors/audit/index.ts'
import { makeAutomaticTags } from '../actors/automatic-tag/index.ts'
import { endBlockedFollows, makeBlocklist } from '../actors/blocklist/index.ts'
import { makeCaptions, makeTranscriptions } from '../actors/caption/index.ts'
import { makeChannels, spreadSupport } from '../actors/channel/index.ts'
import { makeChannelRemoval } from '../actors/channel-removal/index.ts'
import { makeChannelSyncs, runChannelSyncs } from '../actors/channel-sync/index.ts'
import {
  maintainCommentTotals,
  makeCommentReviews,
  makeComments,
  makeRemoveCommentsOf,
  makeWaitingComments,
} from '../actors/comment/index.ts'
import { makeContact } from '../actors/contact/index.ts'
import { scheduleReconciliation } from '../actors/counters/index.ts'
import { makeExternalLogins } from '../actors/external-login/index.ts'
import { followBack, maintainFollowCounts, makeFollows, makeHistoryWalks } from '../actors/follow/index.ts'
import { makeHistory } from '../actors/history/index.ts'
import { maintainActivityTotals } from '../actors/incoming-activity/index.ts'
import { lookForNewVersions, makeHomepage, makeInstance, makeInstanceFacts } from '../actors/instance/index.ts'
import { makeInteractionCleaning } from '../actors/interaction/index.ts'
import { makeJobQueue, refuseNameless } from '../actors/job-queue/index.ts'
import {
  encodeRenditions,
  makeLiveSessions,
  makeLives,
  makeRemoteRenditions,
  saveReplays,
  superviseLiveSessions,
} from '../actors/live/index.ts'
import { makeMailLinks, sendMails } from '../actors/mail/index.ts'
import {
  makeMailBatches,
  makeNotifications,
  makeNotify,
  makePushes,
  notifySubscribers,
  RULES,
  reactByRules,
} from '../actors/notification/index.ts'
import { makeOwnershipChanges } from '../actors/ownership-change/index.ts'
import { maintainPlaylistTotals, makePlaylists, makeRemotePlaylists } from '../actors/playlist/index.ts'
import {
  lookForPluginVersions,
  makeActivePlugins,
  makeAnswerPlugin,
  makePluginAssets,
  makePluginCalls,
  makePluginHosts,
  makePluginRegistry,
  makePluginSockets,
  makePlugins,
  sendPluginActions,
} from '../actors/plugin/index.ts'
import { makeRatings } from '../actors/rating/index.ts'
import { downloadRedundancies, makeRedundancies, mirrorByStrategy } from '../actors/redundancy/index.ts'
import { makeRegistrations } from '../actors/registration/index.ts'
import { makeRemoteActorRemoval } from '../actors/remote-actor-removal/index.ts'
import { makeRemoteWorks, makeRunnerJobs, makeRunners } from '../actors/runner/index.ts'
import { makeGuessLimits, pruneJobHistory } from '../actors/runtime/index.ts'
import { makeRuntimeConfig } from '../actors/runtime-config/index.ts'
import { makeSessions } from '../actors/session/index.ts'
import { makeShares } from '../actors/share/index.ts'
import { makeStorageMoves } from '../actors/storage-move/index.ts'
import { makeStoryboards } from '../actors/storyboard/index.ts'
import { makeEditions, makeStudio } from '../actors/studio/index.ts'
import { makeTorrents } from '../actors/torrent/index.ts'
import { makeTranscodeAgain, makeTranscodings } from '../actors/transcoding/index.ts'
import { makeTwoFactor } from '../actors/two-factor/index.ts'
import { makeUploads } from '../actors/upload/index.ts'
import { makeEmailVerification, makeManageUsers, makePasswordReset, makeUsers } from '../actors/user/index.ts'
import { makeArchiveLinks, makeUserExports, runExports } from '../actors/user-export/index.ts'
import { makeUserImports } from '../actors/user-import/index.ts'
import { makeUserRemoval } from '../actors/user-removal/index.ts'
import {
  announceVideoChanges,
  makeAwaitedVideos,
  makeChapters,
  makeCreateVideo,
  makeDrawPictures,
  makeInspectFile,
  makeRemoteVideos,
  makeRemoveFiles,
  makeRemoveVideo,
  makeReplaceSource,
  makeUpdateVideo,
  ownLabels,
  privacyLabels,
  quotaLeft,
  registerCounters,
  registerListing,
  registerScores,
  removeStaleWorkFolders,
} from '../actors/video/index.ts'
import { makeVideoBlocks } from '../actors/video-block/index.ts'
import { makeVideoImports, runImports } from '../actors/video-import/index.ts'
import { makeViews } from '../actors/view/index.ts'
import { makeFindLists } from '../actors/watched-words/index.ts'
import type { LoadedConfig } from '../config/index.ts'
import { fetchUnblocked, makeFederationPart } from '../federation/index.ts'
import type { AppOptions } from '../http/app.ts'
import type { Examine } from '../http/debug/check-up.ts'
import { pushWords } from '../http/pages/bodies/notifications.ts'
import { playlistPrivacyLabels } from '../http/video-playlists/views.ts'
import { makeVideoResponseCache } from '../http/videos/response-cache.ts'
import { type Ffmpeg, makeWarmFfprobe } from '../media/index.ts'
import { type Clock, systemClock } from '../platform/clock.ts'
import { makeGuardedFetch } from '../platform/fetch/index.ts'
import type { Health } from '../platform/health.ts'
import type { GenerateKeys } from '../platform/keys.ts'
import { languageOfTag } from '../platform/languages.ts'
import { makeLimitStore } from '../platform/limit-stores.ts'
import { type Logger, tagged } from '../platform/logger.ts'
import { makeMailer } from '../platform/mailer.ts'
import { makePasswords, type Passwords } from '../platform/passwords.ts'
import { makeSignedTokens } from '../platform/signed-tokens.ts'
import { REQUIRED } from '../required.ts'
import type { Role } from '../runtime-settings.ts'
import { VERSION } from '../version.ts'
import { openFoundation } from './foundation.ts'
import { makeImportDownloads } from './import-downloads.ts'
import { openMedia } from './media.ts'
import { composeUserImports } from './user-imports.ts'

export interface ServerOptions {
  loaded: LoadedConfig
  logger: Logger
  roles: readonly Role[]
  clock?: Clock
  /** Validates every response with its schema (tests). */
  checkResponses?: boolean
  /** Called for every route of the HTTP application (tests). */
  onRoute?: AppOptions['onRoute']
  /** Replacements for parts that are slow to make (tests). */
  instead?: { ffmpeg?: Ffmpeg; generateKeys?: GenerateKeys; passwords?: Passwords }
  /** Runs `vireo doctor`. Without it administrators have no check-up over the API. */
  examine?: Examine
  /** Password of the user `root` on the first start; by default a random one. */
  rootPassword?: string
  /** Called with the first start's credentials as soon as they are stored, whatever happens afterwards. */
  onFirstStart?: (credentials: Credentials) => void
}

export interface Credentials {
  clientId: string
  clientSecret: string
  username: string
  password: string
}
export type Parts = Awaited<ReturnType<typeof makeParts>>

/** Throws an Error with a one-line message if a required service is unavailable. `closers` close what was opened, the last one first. */
export async function makeParts(options: ServerOptions, closers: (() => Promise<void>)[], health: Health) {
  const { loaded, logger, roles, clock = systemClock, instead = {} } = options
  const ground = await openFoundation({ loaded, logger, roles, clock }, closers, health)
  const { source, stored, db, bus, limits, prefix, runtime, loopWatch, deps } = ground
  const { config } = deps
  const { generateKeys, passwords = makePasswords() } = instead
  const instance = makeInstance({ ...deps, generateKeys })
  const runtimeConfig = makeRuntimeConfig({
    ...deps,
    logger: tagged(logger, 'config'),
    source,
    stored,
    bus,
    instanceActorId: instance.actorId,
  })
  closers.push(async () => runtimeConfig.close())
  const users = { ...makeUsers({ ...deps, passwords, generateKeys }), ...makeManageUsers({ ...deps, passwords }) }
  const guesses = makeGuessLimits({ store: makeLimitStore({ redis: limits, prefix: `${prefix}:`, clock }), config })
  const userAgent = `Vireo/${VERSION} (+${loaded.publicUrl})`
  // For addresses that the administrator has configured, such as a login provider in the same network.
  const ownFetch = makeGuardedFetch({
    allowHttp: true,
    allowPrivateAddresses: true,
    timeoutMs: config().vireo.federation.fetch.timeout,
    maxRedirects: config().vireo.federation.fetch.max_redirects,
    userAgent,
    logger,
  })
  closers.push(() => ownFetch.close())
  const externalLogins = makeExternalLogins({
    ...deps,
    users,
    passwords,
    ownFetch,
    plugins: () => pluginCalls,
  })
  const sessions = makeSessions({ ...deps, passwords, guesses, bus, external: externalLogins })
  const twoFactor = makeTwoFactor({ ...deps, passwords, guesses })
  const signedTokens = makeSignedTokens(deps)
  const links = makeMailLinks({ ...deps, signedTokens })
  const contact = makeContact(deps)
  sendMails({
    ...deps,
    logger: tagged(logger, 'mail'),
    links,
    batches: makeMailBatches(deps),
    mailer: makeMailer({ settings: () => config().smtp }),
  })
  const registrations = makeRegistrations({ ...deps, users, passwords, links })
  const emailVerification = makeEmailVerification({ ...deps, links })
  const passwordReset = makePasswordReset({ ...deps, links, passwords })
  const follows = makeFollows(deps)
  maintainFollowCounts(runtime.registry)
  const blocklist = makeBlocklist(deps)
  endBlockedFollows({ ...deps, follows })
  const abuses = makeAbuses(deps)
  const automaticTags = makeAutomaticTags({ ...deps, findLists: makeFindLists(deps) })
  followBack({ ...deps, instanceActorId: instance.actorId })
  pruneJobHistory(deps)
  pruneAuditLog(deps)

  const { media, remoteCache } = await openMedia({ ...deps, automaticTags }, instead, closers)
  const { store, ffmpeg } = media
  const warmFfprobe = makeWarmFfprobe()
  closers.push(() => warmFfprobe.close())
  const inspectFile = makeInspectFile({ ...media, runFfprobe: warmFfprobe.run })
  const { drawPictures } = makeDrawPictures({ ...media, inspectFile })
  const createVideo = makeCreateVideo({ ...media, inspectFile })
  const replaceSource = makeReplaceSource({ ...media, inspectFile })
  const userImports = makeUserImports(media)
  const uploads = makeUploads({ ...media, createVideo, replaceSource, userImports })
  removeStaleWorkFolders(media)
  const works = makeRemoteWorks()
  const runners = makeRunners(deps)
  const runnerJobs = makeRunnerJobs({ ...media, works })
  makeTranscodings({ ...media, drawPictures, works })
  const transcodeAgain = makeTranscodeAgain(deps)
  makeStoryboards({ ...media, works })
  makeEditions({ ...media, inspectFile, replaceSource, works })
  const studio = makeStudio(media)
  makeTorrents(media)
  const storageMoves = makeStorageMoves({
    ...media,
    preferred: config().object_storage.enabled ? 'object-storage' : 'file-system',
  })
  const videos = { ...makeUpdateVideo(media), ...makeRemoveVideo(media), ...makeRemoveFiles(media) }
  const captions = makeCaptions({ ...media, changeParts: videos.changeParts })
  const transcriptions = makeTranscriptions({ ...deps, works, captions })
  const chapters = makeChapters(videos)
  const ownershipChanges = makeOwnershipChanges(deps)
  const videoBlocks = makeVideoBlocks(media)
  const actorImages = makeActorImages(media)
  const channels = makeChannels({ ...deps, generateKeys })
  spreadSupport({ ...deps, videos })
  const comments = makeComments({ ...deps, automaticTags })
  maintainCommentTotals(deps)
  maintainAbuseTotals(deps)
  const reviews = makeCommentReviews({ ...deps, automaticTags })
  const waitingComments = makeWaitingComments(deps)
  const bulkComments = makeRemoveCommentsOf({ ...deps, comments })
  const ratings = makeRatings(deps)
  const playlists = makePlaylists(media)
  const remotePlaylists = makeRemotePlaylists(deps)
  maintainPlaylistTotals(deps)
  maintainActivityTotals(deps)
  registerCounters(deps)
  registerActorTotals(deps)
  scheduleReconciliation(deps)
  registerScores(deps)
  registerListing(deps)
  announceVideoChanges(runtime.registry)
  const views = makeViews(deps)
  const history = makeHistory(deps)

  // All requests to other servers use this fetcher: no private addresses, no blocked servers.
  const http = fetchUnblocked(
    makeGuardedFetch({
      allowHttp: config().vireo.federation.allow_http,
      allowPrivateAddresses: config().vireo.federation.allow_private_addresses,
      timeoutMs: config().vireo.federation.fetch.timeout,
      maxRedirects: config().vireo.federation.fetch.max_redirects,
      userAgent,
      logger,
    }),
    db,
  )
  closers.push(() => http.close())
  const pluginRegistry = makePluginRegistry({ http, config })
  lookForPluginVersions({ ...deps, packages: pluginRegistry })
  const plugins = makePlugins({ ...deps, packages: pluginRegistry, passwords, guesses })
  const activePlugins = makeActivePlugins({ ...deps, bus })
  closers.push(async () => activePlugins.close())
  const pluginDeps = { ...deps, logger: tagged(logger, 'plugin'), active: activePlugins, plugins }
  const pluginAssets = makePluginAssets(pluginDeps)
  const answer = makeAnswerPlugin({ ...pluginDeps, externalLogin: externalLogins.ofPlugin })
  const labels = {
    ...ownLabels,
    privacy: privacyLabels,
    playlistPrivacy: playlistPrivacyLabels,
  }
  const pluginHosts = makePluginHosts({ ...pluginDeps, answer, ownFetch, labels })
  const pluginCalls = makePluginCalls({ ...pluginDeps, hosts: pluginHosts })
  const pluginSockets = makePluginSockets({ ...pluginDeps, hosts: pluginHosts })
  sendPluginActions({ ...pluginDeps, hosts: pluginHosts })
  lookForNewVersions({ ...deps, http, version: VERSION, instanceActorId: instance.actorId })
  const redundancies = makeRedundancies({ ...deps, instanceActorId: instance.actorId })
  downloadRedundancies({ ...media, http, redundancies, instanceActorId: instance.actorId })
  mirrorByStrategy({ ...deps, redundancies, instanceActorId: instance.actorId })
  const awaitedVideos = makeAwaitedVideos({ ...media, inspectFile })
  const { downloads, mayImportFrom, close } = makeImportDownloads({ config, logger, ffmpeg, userAgent })
  closers.push(close)
  const lives = { ...makeLives({ ...media, awaitedVideos, createVideo }), sessions: makeLiveSessions({ ...deps, quotaLeft }) }
  superviseLiveSessions(media)
  encodeRenditions(media)
  makeRemoteRenditions({ ...media, works })
  saveReplays({ ...media, inspectFile, createVideo, awaitedVideos })
  const imports = { ...media, awaitedVideos, createVideo, inspectFile, captions, downloads, mayImportFrom }
  const videoImports = makeVideoImports(imports)
  runImports(imports)
  const channelSyncs = makeChannelSyncs({ ...deps, checkQuota: createVideo.checkQuota })
  runChannelSyncs({ ...media, downloads, videoImports })
  const remoteActors = makeRemoteActors(deps)
  const remoteVideos = makeRemoteVideos({ ...deps, automaticTags })
  const shares = makeShares(deps)
  const federation = makeFederationPart({
    deps: { ...deps, logger: tagged(logger, 'ap') },
    http,
    instanceActorId: instance.actorId,
    remoteActors,
    remoteVideos,
    remotePlaylists,
    follows,
    histories: makeHistoryWalks(deps),
    cleaning: makeInteractionCleaning(deps),
    comments,
    reviews,
    waitingComments,
    ratings,
    shares,
    views,
    abuses,
    redundancies,
    bus,
    redis: limits && { connection: limits, prefix: `${prefix}:kv:` },
    software: { name: 'vireo', version: VERSION },
    loopWatch,
  })
  closers.push(() => federation.close())
  const userExports = { ...makeUserExports(media), ...makeArchiveLinks({ ...deps, signedTokens }) }
  runExports({ ...media, documents: federation.archiveDocuments })
  composeUserImports({
    ...media,
    actorImages,
    blocklist,
    captions,
    channels,
    createVideo,
    follows,
    history,
    passwords,
    guesses,
    playlists,
    ratings,
    resolvePasted: federation.resolvePasted,
  })
  const notify = makeNotify(deps)
  notifySubscribers({ ...deps, notify })
  reactByRules({ registry: runtime.registry, notify }, RULES)
  const notifications = makeNotifications(deps)
  const pushes = makePushes({
    ...deps,
    http,
    words: (row, language) => ({ title: config().instance.name, ...pushWords(row, languageOfTag(language)) }),
  })
  // After federation, whose reactions to the removal of an account or channel must run first.
  makeUserRemoval({ ...deps, uploads, userImports, videos, comments, playlists, ratings, follows })
  makeChannelRemoval({ ...deps, videos, playlists, follows })
  const removers = { videos: remoteVideos, playlists: remotePlaylists, comments, ratings, shares }
  makeRemoteActorRemoval({ ...deps, remoteActors, removers })
  const facts = makeInstanceFacts({ ...deps, bus, actorId: instance.actorId })
  closers.push(async () => facts.close())
  const answers = makeVideoResponseCache({ config, bus, clock })
  closers.push(async () => answers.close())
  source.onChange(() => {
    runtime.adapt()
    federation.forgetDocuments()
    answers.clear()
  })
  runtime.registry.seal(REQUIRED)
  refuseNameless(runtime.registry)
  const jobQueue = makeJobQueue({ ...deps, incoming: federation.incoming })
  return {
    ...ground,
    abuses,
    activePlugins,
    actorImages,
    answers,
    blocklist,
    bulkComments,
    captions,
    channels,
    channelSyncs,
    chapters,
    comments,
    contact,
    createVideo,
    drawPictures,
    emailVerification,
    facts,
    federation,
    ffmpeg,
    follows,
    guesses,
    health,
    history,
    homepage: makeHomepage(deps),
    http,
    inspectFile,
    instance,
    jobQueue,
    lives,
    media,
    notifications,
    ownershipChanges,
    passwordReset,
    passwords,
    playlists,
    pluginAssets,
    pluginCalls,
    pluginHosts,
    pluginRegistry,
    pluginSockets,
    plugins,
    pushes,
    ratings,
    redundancies,
    registrations,
    remoteActors,
    remoteCache,
    remotePlaylists,
    replaceSource,
    reviews,
    runnerJobs,
    runners,
    runtimeConfig,
    sessions,
    externalLogins,
    signedTokens,
    storageMoves,
    store,
    studio,
    transcodeAgain,
    transcriptions,
    twoFactor,
    uploads,
    userExports,
    users,
    videoBlocks,
    videoImports,
    videos,
    views,
    waitingComments,
    works,
  }
}
