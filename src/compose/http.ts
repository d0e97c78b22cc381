// The role `web`: all areas of the REST API and the pages, composed from the parts of the server.

import { join } from 'node:path'
import { makeAbuseMessages } from '../actors/abuse/index.ts'
import { makeLookedAtActor } from '../actors/actor/index.ts'
import { makeCommentTagPolicies } from '../actors/automatic-tag/index.ts'
import { makeBlockLists } from '../actors/blocklist/index.ts'
import { makeUnsubscribe } from '../actors/mail/index.ts'
import { findNotification } from '../actors/notification/index.ts'
import { makeNotificationSettings } from '../actors/notification-setting/index.ts'
import { makePlaylistElements } from '../actors/playlist/index.ts'
import { findRunnerId, presentRunners } from '../actors/runner/index.ts'
import { RUNNER_JOBS_TOPIC } from '../actors/runtime/index.ts'
import { makeServerStats } from '../actors/server-stats/index.ts'
import { makeApplicationTokens, makeScopedTokens } from '../actors/session/index.ts'
import { makeSubscriptions } from '../actors/subscription/index.ts'
import { makeUpdateMe } from '../actors/user/index.ts'
import {
  findVideoIds,
  listLiveStatus,
  makeFileTokens,
  makeLookedAt,
  makeVideoPasswords,
  readVideosChange,
  VIDEOS_CHANGED,
} from '../actors/video/index.ts'
import { makeWatchedWords } from '../actors/watched-words/index.ts'
import { abusesArea } from '../http/abuses/routes.ts'
import { accountsArea } from '../http/accounts/routes.ts'
import { activityPubArea } from '../http/activitypub/routes.ts'
import { makeReceiveImage } from '../http/actor-images/receive-image.ts'
import { type App, type AppOptions, type Area, makeApp } from '../http/app.ts'
import { automaticTagsArea } from '../http/automatic-tags/routes.ts'
import { blockListsArea } from '../http/blocklists/lists.ts'
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
import { checkUpArea, type Examine } from '../http/debug/check-up.ts'
import { debugArea } from '../http/debug/routes.ts'
import { statusArea } from '../http/debug/status.ts'
import { makeMuxes } from '../http/downloads/mux.ts'
import { downloadsArea } from '../http/downloads/routes.ts'
import { externalLoginsArea } from '../http/external-logins/routes.ts'
import { feedsArea } from '../http/feeds/routes.ts'
import { healthArea } from '../http/health/routes.ts'
import { historyArea } from '../http/history/routes.ts'
import { inboxArea } from '../http/inbox/routes.ts'
import { ownVideosWorkArea } from '../http/jobs/own-videos.ts'
import { jobsArea } from '../http/jobs/routes.ts'
import { lazyStaticArea } from '../http/lazy-static/routes.ts'
import { liveVideosArea } from '../http/live-videos/routes.ts'
import { mailPreferencesArea } from '../http/mail-preferences/routes.ts'
import { myAvatarArea } from '../http/me/avatar.routes.ts'
import { meArea } from '../http/me/routes.ts'
import { makeCountRequests } from '../http/metrics/count-requests.ts'
import { metricsArea } from '../http/metrics/routes.ts'
import { pushArea } from '../http/notifications/push.routes.ts'
import { notificationsArea } from '../http/notifications/routes.ts'
import { toNotificationView } from '../http/notifications/views.ts'
import { applicationTokensArea } from '../http/oauth/application-tokens.ts'
import { ownSessionsArea } from '../http/oauth/own-sessions.ts'
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
import { pluginAssetsArea } from '../http/server-plugins/assets.routes.ts'
import { pluginRouterArea } from '../http/server-plugins/router.routes.ts'
import { serverPluginsArea } from '../http/server-plugins/routes.ts'
import { serverStatsArea } from '../http/server-stats/routes.ts'
import { servicesArea } from '../http/services/routes.ts'
import { makeLiveVideos } from '../http/sockets/live-videos.ts'
import { listenForNotifications } from '../http/sockets/notification-bus.ts'
import { socketsArea } from '../http/sockets/routes.ts'
import { makeRunnerSockets } from '../http/sockets/runners.ts'
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
import { makeRefreshStale } from '../http/video-playlists/refresh-stale.ts'
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
import type { Parts } from './parts.ts'

export interface HttpParts extends Parts {
  /** Public origin. */
  publicUrl: string
  examine: Examine | undefined
  /** Options of the application (tests). */
  options: Pick<AppOptions, 'checkResponses' | 'onRoute'>
}

/** The application, not yet listening. Throws an Error with a one-line message if the configured web client cannot be used. */
export async function composeHttp(parts: HttpParts): Promise<App> {
  const { deps, limits, loopWatch, options, publicUrl, sessions, answers, health } = parts
  const { telemetry } = parts.watched
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
    written: { seen: answers.changed, federated: parts.federation.documentsChanged },
    audit: parts.audit,
    filters: parts.pluginCalls,
    areas: areasOf(parts, client),
  })
}

function areasOf(parts: HttpParts, client: BuiltClient | undefined): Area[] {
  const { bus, createVideo, deps, facts, federation, ffmpeg, http, instance, runtime, sessions, store, videos } = parts
  const { db, config, logger, urls } = deps
  const { telemetry } = parts.watched
  const made = { ...deps, ...federation, ...parts, instanceActorId: instance.actorId, telemetry, client }
  const fileTokens = makeFileTokens(made)

  /** A small remote file. Throws FetchError, also if it is larger than `maxBytes`. */
  async function fetchRemoteFile(url: string, maxBytes: number): Promise<Buffer | null> {
    const answer = await http.fetch(url, { maxBytes, timeoutMs: config().vireo.federation.fetch.file_timeout })
    return answer.status === 200 ? answer.body : null
  }

  // Each area uses the dependencies that it declares.
  const all = {
    ...made,
    fetchRemoteFile,
    fileTokens,
    refreshStale: makeRefreshStale(made),
    lookedAtActor: makeLookedAtActor(made),
    notificationSettings: makeNotificationSettings(made),
    receiveImage: makeReceiveImage(made),
    serverConfig: makeServerConfig({ config, facts, activePlugins: parts.activePlugins, software: { version: VERSION, commit: COMMIT } }),
    subscriptions: makeSubscriptions(made),
    updateMe: makeUpdateMe(made),
    videoPages: makeVideoPages({ ...made, fileTokens }),
    watch: makeWatch(made),
  }
  return [
    oauthArea(all),
    scopedTokensArea({ ...all, scopedTokens: makeScopedTokens(made) }),
    applicationTokensArea({ ...all, applicationTokens: makeApplicationTokens(deps) }),
    ownSessionsArea(all),
    externalLoginsArea({ ...all, logger: tagged(logger, 'http') }),
    twoFactorArea(all),
    configArea(all),
    customPagesArea(all),
    contactArea(all),
    serverStatsArea({ ...all, stats: makeServerStats(made) }),
    pingArea,
    healthArea(all),
    usersArea(all),
    userExportsArea(all),
    meArea(all),
    notificationsArea(all),
    pushArea(all),
    mailPreferencesArea({ ...all, unsubscribe: makeUnsubscribe(deps) }),
    myAvatarArea(all),
    instanceImagesArea(all),
    accountsArea(all),
    videoChannelsArea(all),
    channelImagesArea(all),
    videoChannelSyncsArea(all),
    commentListsArea(all),
    watchedWordsArea({ ...all, watchedWords: makeWatchedWords(deps) }),
    automaticTagsArea({ ...all, policies: makeCommentTagPolicies(deps) }),
    serverPluginsArea(all),
    pluginAssetsArea(all),
    pluginRouterArea(all),
    runnersArea(all),
    liveVideosArea(all),
    registrationsArea(all),
    userMailsArea(all),
    videosArea({ ...all, fitPicture: createVideo.fitPicture, lookedAt: makeLookedAt(deps) }),
    videoOwnershipArea(all),
    videoBlocksArea(all),
    videoPasswordsArea({ ...all, videoPasswords: makeVideoPasswords(deps) }),
    videoTokensArea(all),
    videoSourceArea(all),
    videoFilesArea({ ...all, ...videos, ...parts.transcodeAgain }),
    videoStudioArea(all),
    captionsArea(all),
    chaptersArea(all),
    storyboardsArea(all),
    uploadsArea({ ...all, host: urls.host }),
    userImportsArea(all),
    videoImportsArea(all),
    abusesArea({ ...all, messages: makeAbuseMessages(deps) }),
    blocklistsArea(all),
    blockListsArea({ ...all, blockLists: makeBlockLists(deps) }),
    commentsArea(all),
    bulkArea({ ...all, comments: parts.bulkComments }),
    ratingsArea(all),
    playlistsArea(all),
    playlistElementsArea({ ...all, elements: makePlaylistElements(deps) }),
    viewsArea(all),
    historyArea(all),
    videoStatsArea(all),
    metricsArea(all),
    serverFollowsArea(all),
    redundancyArea(all),
    peersArea(all),
    jobsArea(all),
    ownVideosWorkArea(all),
    statusArea(all),
    debugArea({ ...all, run: runtime.sweeper.run }),
    ...(parts.examine ? [checkUpArea({ examine: parts.examine })] : []),
    inboxArea({ ...all, maxBodySize: config().vireo.federation.inbox.max_body_size }),
    wellKnownArea(all),
    crawlersArea({ ...all, folder: join(config().storage.cache, 'sitemap') }),
    manifestArea(all),
    clientFilesArea({ ...all, images: makeDefaultImages({ facts, store }) }),
    activityPubArea(all),
    staticArea(all),
    downloadsArea({ ...all, openMux: makeMuxes({ store, ffmpeg, config, logger }) }),
    lazyStaticArea(all),
    trackerArea({ ...all, logger: tagged(logger, 'tracker') }),
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
        makeRunnerSockets({
          logger,
          find: (token) => findRunnerId(db, token),
          present: (ids) => presentRunners(db, ids),
          subscribe: (listener) => bus.subscribe(RUNNER_JOBS_TOPIC, listener),
        }),
        makeLiveVideos({
          sessions,
          config,
          logger,
          subscribe: (listener) =>
            bus.subscribe(VIDEOS_CHANGED, (payload) => {
              const change = readVideosChange(payload)
              if (change.what === 'any') listener(undefined)
              else if (change.what === 'video') listener(change.videoId)
            }),
          findId: async (key) => (await findVideoIds(db, [key])).at(0),
          load: (videoIds) => listLiveStatus(db, videoIds),
        }),
      ],
    }),
    serverLogsArea(all),
    searchArea(all),
    overviewsArea(all),
    subscriptionsArea(all),
    feedsArea(all),
    servicesArea(all),
    client
      ? clientPagesArea({ ...all, client })
      : pagesArea({
          ...all,
          visitors: makeVisitors({ sessions, secrets: deps.secrets, origin: urls.origin }),
        }),
  ]
}
