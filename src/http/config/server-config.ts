// ServerConfig: what every client requests first, built from the configuration and a few facts. Pure.

import { z } from 'zod'
import { kinds } from '../../actors/external-login/index.ts'
import type { InstanceFacts } from '../../actors/instance/index.ts'
import { type PluginRow, pluginTypes, shortName, typeOf } from '../../actors/plugin/index.ts'
import { acceptedExtensions } from '../../actors/upload/index.ts'
import { type Config, isMailEnabled, nsfwPolicies } from '../../config/index.ts'
import { imageView } from '../videos/actor.view.ts'
import { toInstanceImages } from './instance-image.views.ts'

const on = z.object({ enabled: z.boolean() })
const texts = z.array(z.string())
const bytes = z.object({ max: z.int() })
const file = z.object({ size: bytes, extensions: texts })
const profiles = { profile: z.string(), availableProfiles: texts, enabledResolutions: z.array(z.int()) }

const registeredPlugin = z.object({
  npmName: z.string(),
  name: z.string(),
  version: z.string(),
  description: z.string(),
  clientScripts: z.record(z.string(), z.object({ script: z.string(), scopes: texts })),
})
const registeredAuth = { name: z.string(), npmName: z.string(), version: z.string(), authName: z.string() }

export const serverConfigView = z
  .object({
    client: z.object({
      videos: z.object({
        miniature: z.object({ displayAuthorAvatar: z.boolean(), preferAuthorDisplayName: z.boolean() }),
        resumableUpload: z.object({ maxChunkSize: z.int() }),
      }),
      menu: z.object({ login: z.object({ redirectOnSingleExternalAuth: z.boolean() }) }),
    }),
    defaults: z.object({
      publish: z.object({
        downloadEnabled: z.boolean(),
        commentsPolicy: z.int(),
        commentsEnabled: z.boolean(),
        privacy: z.int(),
        licence: z.int().nullable(),
      }),
      p2p: z.object({ webapp: on, embed: on }),
    }),
    webadmin: z.object({ configuration: z.object({ edition: z.object({ allowed: z.boolean() }) }) }),
    instance: z.object({
      name: z.string(),
      shortDescription: z.string(),
      isNSFW: z.boolean(),
      defaultNSFWPolicy: z.enum(nsfwPolicies),
      defaultClientRoute: z.string(),
      customizations: z.object({ javascript: z.string(), css: z.string() }),
      avatars: z.array(imageView),
      banners: z.array(imageView),
    }),
    search: z.object({
      remoteUri: z.object({ users: z.boolean(), anonymous: z.boolean() }),
      searchIndex: z.object({
        enabled: z.boolean(),
        url: z.string(),
        disableLocalSearch: z.boolean(),
        isDefaultSearch: z.boolean(),
      }),
    }),
    plugin: z.object({
      registered: z.array(registeredPlugin),
      registeredExternalAuths: z.array(z.object({ ...registeredAuth, authDisplayName: z.string() })),
      registeredIdAndPassAuths: z.array(z.object({ ...registeredAuth, weight: z.int() })),
    }),
    theme: z.object({ registered: z.array(registeredPlugin.extend({ css: texts })), default: z.string() }),
    email: on,
    contactForm: on,
    serverVersion: z.string(),
    serverCommit: z.string(),
    transcoding: z.object({ remoteRunners: on, hls: on, web_videos: on, ...profiles }),
    live: z.object({
      enabled: z.boolean(),
      allowReplay: z.boolean(),
      latencySetting: on,
      maxDuration: z.int(),
      maxInstanceLives: z.int(),
      maxUserLives: z.int(),
      transcoding: z.object({ enabled: z.boolean(), remoteRunners: on, ...profiles }),
      rtmp: z.object({ port: z.int() }),
    }),
    videoStudio: z.object({ enabled: z.boolean(), remoteRunners: on }),
    videoFile: z.object({ update: on }),
    videoTranscription: z.object({ enabled: z.boolean(), remoteRunners: on }),
    import: z.object({
      videos: z.object({ http: on, torrent: on }),
      videoChannelSynchronization: on,
      users: on,
    }),
    export: z.object({
      users: z.object({ enabled: z.boolean(), exportExpiration: z.int(), maxUserVideoQuota: z.int() }),
    }),
    autoBlacklist: z.object({ videos: z.object({ ofUsers: on }) }),
    avatar: z.object({ file }),
    banner: z.object({ file }),
    video: z.object({ image: z.object({ extensions: texts, size: bytes }), file: z.object({ extensions: texts }) }),
    videoCaption: z.object({ file }),
    user: z.object({ videoQuota: z.int(), videoQuotaDaily: z.int() }),
    videoChannels: z.object({ maxPerUser: z.int() }),
    trending: z.object({
      videos: z.object({ intervalDays: z.int(), algorithms: z.object({ enabled: texts, default: z.string() }) }),
    }),
    tracker: on,
    followings: z.object({ instance: z.object({ autoFollowIndex: z.object({ indexUrl: z.string() }) }) }),
    broadcastMessage: z.object({
      enabled: z.boolean(),
      message: z.string(),
      level: z.enum(['info', 'warning', 'error']),
      dismissable: z.boolean(),
    }),
    homepage: on,
    openTelemetry: z.object({ metrics: z.object({ enabled: z.boolean(), playbackStatsInterval: z.int() }) }),
    views: z.object({
      videos: z.object({
        watchingInterval: z.object({ anonymous: z.int().nullable(), users: z.int().nullable() }),
      }),
    }),
    storyboards: on,
    signup: z.object({
      allowed: z.boolean(),
      allowedForCurrentIP: z.boolean(),
      minimumAge: z.int(),
      requiresApproval: z.boolean(),
      requiresEmailVerification: z.boolean(),
    }),
  })
  .meta({ id: 'ServerConfig' })

export interface Software {
  version: string
  /** Empty if it is unknown. */
  commit: string
}

/** `plugins`: the enabled ones. `signup`: whether registration is open, and whether it is for the requesting IP address. */
export function toServerConfig(
  config: Config,
  facts: InstanceFacts,
  plugins: readonly PluginRow[],
  software: Software,
  signup: { allowed: boolean; allowedForCurrentIP: boolean },
): z.infer<typeof serverConfigView> {
  const { client, defaults, instance, search, live, transcoding, trending, vireo } = config
  const { max_image_size, max_caption_size } = vireo.uploads
  const actorImage = { file: { size: { max: max_image_size }, extensions: ['.png', '.jpeg', '.jpg', '.gif', '.webp'] } }
  const transcodesLive = live.enabled && live.transcoding.enabled
  return {
    client: {
      videos: {
        miniature: {
          displayAuthorAvatar: client.videos.miniature.display_author_avatar,
          preferAuthorDisplayName: client.videos.miniature.prefer_author_display_name,
        },
        resumableUpload: { maxChunkSize: client.videos.resumable_upload.max_chunk_size ?? 0 },
      },
      menu: { login: { redirectOnSingleExternalAuth: client.menu.login.redirect_on_single_external_auth } },
    },
    defaults: {
      publish: {
        downloadEnabled: defaults.publish.download_enabled,
        commentsPolicy: defaults.publish.comments_policy,
        commentsEnabled: defaults.publish.comments_policy !== 2,
        privacy: defaults.publish.privacy,
        licence: defaults.publish.licence,
      },
      p2p: { webapp: enabled(defaults.p2p.webapp), embed: enabled(defaults.p2p.embed) },
    },
    webadmin: { configuration: { edition: { allowed: config.webadmin.configuration.edition.allowed } } },
    instance: {
      name: instance.name,
      shortDescription: instance.short_description,
      isNSFW: instance.is_nsfw,
      defaultNSFWPolicy: instance.default_nsfw_policy,
      defaultClientRoute: instance.default_client_route,
      customizations: { javascript: instance.customizations.javascript, css: instance.customizations.css },
      ...toInstanceImages(facts),
    },
    search: {
      remoteUri: { users: search.remote_uri.users, anonymous: search.remote_uri.anonymous },
      searchIndex: {
        enabled: search.search_index.enabled,
        url: search.search_index.url,
        disableLocalSearch: search.search_index.disable_local_search,
        isDefaultSearch: search.search_index.is_default_search,
      },
    },
    plugin: {
      registered: plugins.filter(({ npm_name }) => typeOf(npm_name) === pluginTypes.plugin).map(toRegistered),
      registeredExternalAuths: [
        ...plugins.flatMap(toExternalAuths),
        ...vireo.auth.openid_connect.map((provider) => ({
          ...kinds['openid-connect'],
          version: software.version,
          authName: provider.name,
          authDisplayName: provider.label,
        })),
      ],
      registeredIdAndPassAuths: [
        ...plugins.flatMap(toIdAndPassAuths),
        ...vireo.auth.ldap.map(({ name }) => ({
          ...kinds.ldap,
          version: software.version,
          authName: name,
          // The same for all: they are asked in the order of the configuration.
          weight: 100,
        })),
      ],
    },
    theme: {
      registered: plugins
        .filter(({ npm_name }) => typeOf(npm_name) === pluginTypes.theme)
        .map((theme) => ({ ...toRegistered(theme), css: theme.manifest.css })),
      default: config.theme.default,
    },
    email: { enabled: isMailEnabled(config) },
    contactForm: enabled(config.contact_form),
    serverVersion: software.version,
    serverCommit: software.commit,
    transcoding: {
      remoteRunners: { enabled: transcoding.enabled && transcoding.remote_runners.enabled },
      hls: { enabled: transcoding.enabled && transcoding.hls.enabled },
      web_videos: { enabled: transcoding.enabled && transcoding.web_videos.enabled },
      enabledResolutions: transcoding.enabled ? linesOf(transcoding.resolutions) : [],
      profile: transcoding.profile,
      availableProfiles: PROFILES,
    },
    live: {
      enabled: live.enabled,
      allowReplay: live.allow_replay,
      latencySetting: enabled(live.latency_setting),
      maxDuration: live.max_duration,
      maxInstanceLives: live.max_instance_lives,
      maxUserLives: live.max_user_lives,
      transcoding: {
        enabled: transcodesLive,
        remoteRunners: { enabled: transcodesLive && live.transcoding.remote_runners.enabled },
        enabledResolutions: transcodesLive ? linesOf(live.transcoding.resolutions) : [],
        profile: live.transcoding.profile,
        availableProfiles: PROFILES,
      },
      rtmp: { port: live.rtmp.port },
    },
    videoStudio: { enabled: config.video_studio.enabled, remoteRunners: enabled(config.video_studio.remote_runners) },
    videoFile: { update: enabled(config.video_file.update) },
    videoTranscription: {
      enabled: config.video_transcription.enabled,
      remoteRunners: enabled(config.video_transcription.remote_runners),
    },
    import: {
      videos: { http: enabled(config.import.videos.http), torrent: enabled(config.import.videos.torrent) },
      videoChannelSynchronization: enabled(config.import.video_channel_synchronization),
      users: enabled(config.import.users),
    },
    export: {
      users: {
        enabled: config.export.users.enabled,
        exportExpiration: config.export.users.export_expiration,
        maxUserVideoQuota: config.export.users.max_user_video_quota,
      },
    },
    autoBlacklist: { videos: { ofUsers: enabled(config.auto_blacklist.videos.of_users) } },
    avatar: actorImage,
    banner: actorImage,
    video: {
      image: { extensions: ['.png', '.jpg', '.jpeg', '.webp'], size: { max: max_image_size } },
      file: { extensions: acceptedExtensions(config) },
    },
    videoCaption: { file: { size: { max: max_caption_size }, extensions: ['.vtt', '.srt'] } },
    user: { videoQuota: config.user.video_quota, videoQuotaDaily: config.user.video_quota_daily },
    videoChannels: { maxPerUser: config.video_channels.max_per_user },
    trending: {
      videos: {
        intervalDays: trending.videos.interval_days,
        algorithms: {
          enabled: [...trending.videos.algorithms.enabled],
          default: trending.videos.algorithms.default,
        },
      },
    },
    tracker: enabled(config.tracker),
    followings: {
      instance: { autoFollowIndex: { indexUrl: config.followings.instance.auto_follow_index.index_url } },
    },
    broadcastMessage: { ...config.broadcast_message },
    homepage: { enabled: facts.homepage },
    openTelemetry: {
      metrics: {
        enabled: config.open_telemetry.metrics.enabled,
        playbackStatsInterval: config.open_telemetry.metrics.playback_stats_interval,
      },
    },
    views: { videos: { watchingInterval: { ...config.views.videos.watching_interval } } },
    storyboards: enabled(config.storyboards),
    signup: {
      ...signup,
      minimumAge: config.signup.minimum_age,
      requiresApproval: config.signup.requires_approval,
      requiresEmailVerification: config.signup.requires_email_verification,
    },
  }
}

const PROFILES = ['default']

const enabled = (section: { readonly enabled: boolean }): { enabled: boolean } => ({ enabled: section.enabled })

/** `480p` gives 480; sound alone 0. */
const linesOf = (resolutions: Readonly<Record<string, boolean>>): number[] =>
  Object.entries(resolutions)
    .filter(([, isOn]) => isOn)
    .map(([name]) => Number.parseInt(name, 10))
    .sort((a, b) => a - b)

const toExternalAuths = ({ npm_name, version, declared }: PluginRow) =>
  (declared?.externalAuths ?? []).map(({ authName, authDisplayName }) => ({
    npmName: npm_name,
    name: shortName(npm_name),
    version,
    authName,
    authDisplayName,
  }))
const toIdAndPassAuths = ({ npm_name, version, declared }: PluginRow) =>
  (declared?.idAndPassAuths ?? []).map(({ authName, weight }) => ({
    npmName: npm_name,
    name: shortName(npm_name),
    version,
    authName,
    weight,
  }))

const toRegistered = ({ npm_name, version, manifest }: PluginRow): z.infer<typeof registeredPlugin> => ({
  npmName: npm_name,
  name: shortName(npm_name),
  version,
  description: manifest.description,
  clientScripts: Object.fromEntries(manifest.clientScripts.map((one) => [one.script, one])),
})
