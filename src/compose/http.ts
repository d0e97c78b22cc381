// The role `web`: every area of the REST API and the pages, put together from the parts of the server.

import { join } from 'node:path'
import { makeAbuseMessages } from '../actors/abuse/index.ts'
import { makeLookedAtActor } from '../actors/actor/index.ts'
import { makeCommentTagPolicies } from '../actors/automatic-tag/index.ts'
import { makeUnsubscribe } from '../actors/mail/index.ts'
import { findNotification } from '../actors/notification/index.ts'
import { makeNotificationSettings } from '../actors/notification-setting/index.ts'
import { makePlaylistElements } from '../actors/playlist/index.ts'
import { makeServerStats } from '../actors/server-stats/index.ts'
import { makeScopedTokens } from '../actors/session/index.ts'
import { makeSubscriptions } from '../actors/subscription/index.ts'
import { makeUpdateMe } from '../actors/user/index.ts'
import { makeFileTokens, makeLookedAt, makeVideoPasswords } from '../actors/video/index.ts'
import { makeWatchedWords } from '../actors/watched-words/index.ts'
import { abusesArea } from '../http/abuses/routes.ts'
import { accountsArea } from '../http/accounts/routes.ts'
import { activityPubArea } from '../http/activitypub/routes.ts'
import { makeReceiveImage } from '../http/actor-images/receive-image.ts'
import { type App, type Area, makeApp } from '../http/app.ts'
import { automaticTagsArea } from '../http/automatic-tags/routes.ts'
import { blocklistsArea } from '../http/blocklists/routes.ts'
import { bulkArea } from '../http/bulk/routes.ts'
import { captionsArea } from '../http/captions/routes.ts'
import { chaptersArea } from '../http/chapters/routes.ts'
import { type BuiltClient, openClient } from '../http/client/built-client.ts'
import { makeDefaultImages } from '../http/client/default-images.ts'
import { clientFilesArea } from '../http/client/files.routes.ts'
import { manifestArea } from '../http/client/manifest.routes.ts'
import { clientPagesArea } from '../http/client/pages.routes.ts'
import { commentListsArea } from '../http/comments/lists.ts'
import { commentsArea } from '../http/comments/routes.ts'
import { instanceImagesArea } from '../http/config/instance-images.ts'
import { makeServerConfig } from '../http/config/prepared.ts'
import { configArea } from '../http/config/routes.ts'
import { contactArea } from '../http/contact/routes.ts'
import { crawlersArea } from '../http/crawlers/routes.ts'
import { customPagesArea } from '../http/custom-pages/routes.ts'
import { debugArea } from '../http/debug/routes.ts'
import { makeMuxes } from '../http/downloads/mux.ts'
import { downloadsArea } from '../http/downloads/routes.ts'
import { feedsArea } from '../http/feeds/routes.ts'
import { healthArea } from '../http/health/routes.ts'
import { historyArea } from '../http/history/routes.ts'
import { inboxArea } from '../http/inbox/routes.ts'
import { jobsArea } from '../http/jobs/routes.ts'
import { lazyStaticArea } from '../http/lazy-static/routes.ts'
import { liveVideosArea } from '../http/live-videos/routes.ts'
import { mailPreferencesArea } from '../http/mail-preferences/routes.ts'
import { myAvatarArea } from '../http/me/avatar.routes.ts'
import { meArea } from '../http/me/routes.ts'
import { makeCountRequests } from '../http/metrics/count-requests.ts'
import { metricsArea } from '../http/metrics/routes.ts'
import { notificationsArea } from '../http/notifications/routes.ts'
import { toNotificationView } from '../http/notifications/views.ts'
import { oauthArea } from '../http/oauth/routes.ts'
import { scopedTokensArea } from '../http/oauth/scoped-tokens.ts'
import { overviewsArea } from '../http/overviews/routes.ts'
import { pagesArea } from '../http/pages/index.ts'
import { makeVisitors } from '../http/pages/visitor.ts'
import { peersArea } from '../http/peers/routes.ts'
import { pingArea } from '../http/ping/routes.ts'
import { ratingsArea } from '../http/ratings/routes.ts'
import { redundancyArea } from '../http/redundancy/routes.ts'
import { registrationsArea } from '../http/registrations/routes.ts'
import { runnersArea } from '../http/runners/routes.ts'
import { searchArea } from '../http/search/routes.ts'
import { serverFollowsArea } from '../http/server-follows/routes.ts'
import { serverLogsArea } from '../http/server-logs/routes.ts'
import { serverPluginsArea } from '../http/server-plugins/routes.ts'
import { serverStatsArea } from '../http/server-stats/routes.ts'
import { servicesArea } from '../http/services/routes.ts'
import { listenForNotifications } from '../http/sockets/notification-bus.ts'
import { socketsArea } from '../http/sockets/routes.ts'
import { makeUserNotifications } from '../http/sockets/user-notifications.ts'
import { staticArea } from '../http/static/routes.ts'
import { storyboardsArea } from '../http/storyboards/routes.ts'
import { subscriptionsArea } from '../http/subscriptions/routes.ts'
import { trackerArea } from '../http/tracker/routes.ts'
import { twoFactorArea } from '../http/two-factor/routes.ts'
import { uploadsArea } from '../http/uploads/routes.ts'
import { userExportsArea } from '../http/user-exports/routes.ts'
import { userImportsArea } from '../http/user-imports/routes.ts'
import { userMailsArea } from '../http/user-mails/routes.ts'
import { usersArea } from '../http/users/routes.ts'
import { videoBlocksArea } from '../http/video-blocks/routes.ts'
import { videoChannelSyncsArea } from '../http/video-channel-syncs/routes.ts'
import { channelImagesArea } from '../http/video-channels/images.routes.ts'
import { videoChannelsArea } from '../http/video-channels/routes.ts'
import { videoFilesArea } from '../http/video-files/routes.ts'
import { videoImportsArea } from '../http/video-imports/routes.ts'
import { videoOwnershipArea } from '../http/video-ownership/routes.ts'
import { videoPasswordsArea } from '../http/video-passwords/routes.ts'
import { playlistElementsArea } from '../http/video-playlists/elements.routes.ts'
import { makeKeepFresh } from '../http/video-playlists/keep-fresh.ts'
import { playlistsArea } from '../http/video-playlists/routes.ts'
import { videoSourceArea } from '../http/video-source/routes.ts'
import { videoStatsArea } from '../http/video-stats/routes.ts'
import { videoStudioArea } from '../http/video-studio/routes.ts'
import { videoTokensArea } from '../http/video-tokens/routes.ts'
import { videosArea } from '../http/videos/routes.ts'
import { makeVideoPages } from '../http/videos/video-pages.ts'
import { viewsArea } from '../http/views/routes.ts'
import { makeWatch } from '../http/views/watch.ts'
import { watchedWordsArea } from '../http/watched-words/routes.ts'
import { wellKnownArea } from '../http/well-known/routes.ts'
import { tagged } from '../platform/logger.ts'
import { COMMIT, VERSION } from '../version.ts'
import type { HttpParts } from './http-parts.ts'

/** The application, not yet listening. Throws an Error of one line when the web client of the configuration cannot be used. */
export async function composeHttp(parts: HttpParts): Promise<App> {
  const { deps, limits, loopWatch, options, publicUrl, sessions, answers, health, telemetry } = parts
  const { http_request_duration } = deps.config().open_telemetry.metrics
  const folder = deps.config().vireo.client.dist
  const client = folder === null ? undefined : await openClient({ ...deps, folder })
  return await makeApp({
    config: deps.config,
    logger: tagged(deps.logger, 'http'),
    publicUrl,
    authenticate: sessions.authenticate,
    ...(limits ? { rateLimitRedis: limits } : {}),
    ...options,
    version: VERSION,
    clock: deps.clock,
    isDraining: health.isDraining,
    loopWatch,
    countRequest: telemetry && makeCountRequests(telemetry, { timed: http_request_duration.enabled }),
    written: { seen: answers.changed, told: parts.federation.documentsChanged },
    audit: parts.audit,
    areas: areasOf(parts, client),
  })
}

function areasOf(parts: HttpParts, client: BuiltClient | undefined): Area[] {
  const {
    abuses,
    actorImages,
    answers,
    blocklist,
    bulkComments,
    bus,
    captions,
    channels,
    channelSyncs,
    chapters,
    comments,
    contact,
    createVideo,
    deps,
    drawPictures,
    emailVerification,
    facts,
    federation,
    ffmpeg,
    follows,
    health,
    history,
    homepage,
    http,
    instance,
    jobQueue,
    notifications,
    ownershipChanges,
    passwordReset,
    passwords,
    guesses,
    playlists,
    ratings,
    redundancies,
    registrations,
    remoteActors,
    remoteCache,
    remotePlaylists,
    replaceSource,
    reviews,
    runtime,
    runtimeConfig,
    sessions,
    signedTokens,
    store,
    studio,
    telemetry,
    transcodeAgain,
    twoFactor,
    uploads,
    userExports,
    users,
    videoBlocks,
    videoImports,
    videos,
    views,
    waitingComments,
  } = parts
  const { db, clock, config, logger, urls } = deps
  const watch = makeWatch({ db, config, views, history })
  const notificationSettings = makeNotificationSettings(deps)
  const fileTokens = makeFileTokens({ db, clock, config, signedTokens })
  const videoPages = makeVideoPages({ ...deps, bus, fileTokens, answers })
  const keepFresh = makeKeepFresh({ ...deps, remotePlaylists })
  const receiveImage = makeReceiveImage({ uploads, config })
  const subscriptions = makeSubscriptions({ ...deps, follows })
  const lookedAtActor = makeLookedAtActor({ ...deps, remoteActors })
  const updateMe = makeUpdateMe({ ...deps, passwords, guesses })
  const serverConfig = makeServerConfig({ config, facts, software: { version: VERSION, commit: COMMIT } })

  /** A small file of another server, whole. Throws FetchError, also when it is larger than `maxBytes`. */
  async function fetchRemoteFile(url: string, maxBytes: number): Promise<Buffer | null> {
    const answer = await http.fetch(url, { maxBytes, timeoutMs: config().vireo.federation.fetch.file_timeout })
    return answer.status === 200 ? answer.body : null
  }

  return [
    oauthArea({ instance, sessions }),
    scopedTokensArea({ scopedTokens: makeScopedTokens(deps) }),
    twoFactorArea({ twoFactor }),
    configArea({ config, runtimeConfig, facts, serverConfig }),
    customPagesArea({ db, homepage, facts }),
    contactArea({ config, contact }),
    serverStatsArea({ config, stats: makeServerStats({ db, clock, config, instanceActorId: instance.actorId }) }),
    pingArea,
    healthArea({ health }),
    usersArea({ db, config, urls, users }),
    userExportsArea({ db, store, clock, config, userExports }),
    meArea({
      db,
      urls,
      bus,
      updateMe,
      notificationSettings,
    }),
    notificationsArea({ db, config, urls, notifications }),
    mailPreferencesArea({ config, unsubscribe: makeUnsubscribe(deps) }),
    myAvatarArea({ actorImages, receiveImage }),
    instanceImagesArea({ instanceActorId: instance.actorId, actorImages, receiveImage, facts }),
    accountsArea({ db, config, urls, videoPages, lookedAtActor, answers }),
    videoChannelsArea({ db, config, urls, videoPages, channels, lookedAtActor, answers }),
    channelImagesArea({ db, urls, actorImages, receiveImage }),
    videoChannelSyncsArea({ db, config, urls, channelSyncs }),
    commentListsArea({ db, config, urls }),
    watchedWordsArea({ db, config, urls, watchedWords: makeWatchedWords(deps) }),
    automaticTagsArea({ db, urls, policies: makeCommentTagPolicies(deps) }),
    serverPluginsArea({ config }),
    runnersArea({ config }),
    liveVideosArea({ db }),
    registrationsArea({ db, config, registrations }),
    userMailsArea({ emailVerification, passwordReset }),
    videosArea({
      db,
      config,
      urls,
      fileTokens,
      videos,
      uploads,
      answers,
      videoPages,
      fitPicture: createVideo.fitPicture,
      lookedAt: makeLookedAt(deps),
    }),
    videoOwnershipArea({ db, config, urls, fileTokens, ownershipChanges }),
    videoBlocksArea({ db, config, urls, fileTokens, videoBlocks }),
    videoPasswordsArea({ db, config, videoPasswords: makeVideoPasswords(deps) }),
    videoTokensArea({ db, fileTokens }),
    videoSourceArea({ db, config, urls, uploads, replaceSource }),
    videoFilesArea({ db, ...videos, ...transcodeAgain }),
    videoStudioArea({ db, config, studio, uploads }),
    captionsArea({ db, config, fileTokens, captions, uploads }),
    chaptersArea({ db, config, chapters }),
    storyboardsArea({ db, config, fileTokens }),
    uploadsArea({ uploads, config, host: urls.host }),
    userImportsArea({ db, config, urls, uploads }),
    videoImportsArea({ db, config, urls, fileTokens, uploads, videoImports }),
    abusesArea({ db, config, urls, fileTokens, abuses, messages: makeAbuseMessages(deps) }),
    blocklistsArea({ db, config, urls, blocklist }),
    commentsArea({ db, config, urls, logger, comments, reviews, waitingComments, answers }),
    bulkArea({ comments: bulkComments }),
    ratingsArea({ db, config, ratings }),
    playlistsArea({ db, config, urls, playlists, uploads, keepFresh }),
    playlistElementsArea({
      db,
      config,
      urls,
      fileTokens,
      keepFresh,
      elements: makePlaylistElements(deps),
    }),
    viewsArea({ watch }),
    historyArea({ db, config, videoPages, history }),
    videoStatsArea({ db, clock, config }),
    metricsArea({ db, telemetry }),
    serverFollowsArea({
      ...deps,
      follows,
      instanceActorId: instance.actorId,
      speaksPlainHttp: federation.speaksPlainHttp,
    }),
    redundancyArea({ db, config, redundancies }),
    peersArea({ ...deps, ...federation }),
    jobsArea({ db, clock, config, jobQueue }),
    debugArea({ db, run: runtime.sweeper.run, channelSyncs }),
    inboxArea({
      config,
      receiveActivity: federation.receiveActivity,
      urls,
      maxBodySize: config().vireo.federation.inbox.max_body_size,
    }),
    wellKnownArea({ config, clock, urls }),
    crawlersArea({ db, config, urls, clock, logger, folder: join(config().storage.cache, 'sitemap') }),
    manifestArea({ config, urls, client }),
    clientFilesArea({ config, client, images: makeDefaultImages({ facts, store }) }),
    activityPubArea({ config, serveActivityPub: federation.serveActivityPub }),
    staticArea({ db, store, config, fileTokens }),
    downloadsArea({ db, store, config, fileTokens, openMux: makeMuxes({ store, ffmpeg, config, logger }) }),
    lazyStaticArea({ db, store, remoteCache, clock, config, logger, fetchRemoteFile, fileTokens, drawPictures }),
    trackerArea({ db, config, logger: tagged(logger, 'tracker'), clock }),
    socketsArea({
      bus,
      logger,
      telemetry,
      secrets: deps.secrets,
      namespaces: [
        makeUserNotifications({
          sessions,
          logger,
          subscribe: (listener) => listenForNotifications(bus, listener),
          async load(stored) {
            const row = await findNotification(db, stored)
            return row && toNotificationView(row, urls.host)
          },
        }),
      ],
    }),
    serverLogsArea({ db, config, clock, logger, urls }),
    searchArea({ db, config, urls, videoPages, resolvePasted: federation.resolvePasted, answers }),
    overviewsArea({ db, config, clock, urls }),
    subscriptionsArea({ db, config, urls, videoPages, subscriptions }),
    feedsArea({ db, config, clock, urls, answers }),
    servicesArea({ db, config, urls }),
    client
      ? clientPagesArea({ db, config, urls, client, serverConfig, answers })
      : pagesArea({
          db,
          config,
          urls,
          clock,
          fileTokens,
          sessions,
          instance,
          facts,
          contact,
          lookedAtActor,
          subscriptions,
          emailVerification,
          passwordReset,
          registrations,
          updateMe,
          notifications,
          notificationSettings,
          userExports,
          uploads,
          watch,
          answers,
          visitors: makeVisitors({ sessions, secrets: deps.secrets, origin: urls.origin }),
          resolvePasted: federation.resolvePasted,
          subscribeAddress: federation.subscribeAddress,
        }),
  ]
}
