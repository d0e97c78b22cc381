// NodeInfo: the software, statistics and public configuration of this server.

import { listEnabledPlugins, type PluginRow, type PluginType, pluginTypes, shortName, typeOf } from '../../actors/plugin/index.ts'
import { closedBy } from '../../actors/registration/index.ts'
import { localCommentCount } from '../../actors/server-stats/index.ts'
import { acceptedExtensions } from '../../actors/upload/index.ts'
import { PUBLIC_VIDEOS, totalVideos } from '../../actors/video/index.ts'
import { type Config, isMailEnabled } from '../../config/index.ts'
import type { Sql } from '../../platform/database/index.ts'
import type { Urls } from '../urls.ts'
import { buildNodeInfo, buildNodeInfoLinks, type JsonObject } from '../wire/index.ts'

export interface Software {
  name: string
  version: string
  repository?: string | undefined
  homepage?: string | undefined
}

/** `/.well-known/nodeinfo`, with the instance actor by which the reference follows a host (FEP-2677). */
export const nodeInfoLinks = (urls: Urls): JsonObject =>
  buildNodeInfoLinks({
    nodeInfo20: urls.nodeInfo('2.0'),
    nodeInfo21: urls.nodeInfo('2.1'),
    instanceActor: urls.instance,
  })

interface Usage {
  users: number
  activeMonth: number
  activeHalfyear: number
  localPosts: number
  localComments: number
}

/** The document. A user is active who logged in or refreshed a session. */
export async function nodeInfo(
  query: Sql,
  version: '2.0' | '2.1',
  input: { config: Config; software: Software; now: Date },
): Promise<JsonObject> {
  const { config, software, now } = input
  const plugins = config.plugins.enabled ? await listEnabledPlugins(query) : []
  const [usage] = await query<Usage>(
    `select count(*)::int as users,
       count(*) filter (where u.last_login_at > $1::timestamptz - interval '1 month')::int as "activeMonth",
       count(*) filter (where u.last_login_at > $1::timestamptz - interval '6 months')::int as "activeHalfyear",
       ${totalVideos(`local and ${PUBLIC_VIDEOS}`)} as "localPosts",
       ${localCommentCount}::int as "localComments"
     from users u where u.state <> 'deleted'`,
    [now],
  )
  const { users = 0, activeMonth = 0, activeHalfyear = 0, localPosts = 0, localComments = 0 } = usage ?? {}
  return buildNodeInfo(version, {
    software,
    openRegistrations: closedBy(config, users, config.signup.requires_approval ? 'request' : 'direct') === undefined,
    users: { total: users, activeMonth, activeHalfyear },
    localPosts,
    localComments,
    nodeName: config.instance.name,
    nodeDescription: config.instance.short_description,
    nodeConfig: nodeConfigOf(config, plugins),
  })
}

const IMAGE_EXTENSIONS = ['.png', '.jpg', '.jpeg', '.webp']

function nodeConfigOf(config: Config, plugins: readonly PluginRow[]): JsonObject {
  const { max_image_size, max_caption_size } = config.vireo.uploads
  const { search, theme, contact_form, transcoding, live, auto_blacklist, user, trending, tracker } = config
  return {
    search: { remoteUri: { users: search.remote_uri.users, anonymous: search.remote_uri.anonymous } },
    plugin: { registered: registered(plugins, pluginTypes.plugin) },
    theme: { registered: registered(plugins, pluginTypes.theme), default: theme.default },
    email: { enabled: isMailEnabled(config) },
    contactForm: { enabled: contact_form.enabled },
    transcoding: {
      hls: { enabled: transcoding.enabled && transcoding.hls.enabled },
      web_videos: { enabled: transcoding.enabled && transcoding.web_videos.enabled },
      enabledResolutions: enabled(transcoding.resolutions),
    },
    live: {
      enabled: live.enabled,
      transcoding: {
        enabled: live.enabled && live.transcoding.enabled,
        enabledResolutions: live.transcoding.enabled ? enabled(live.transcoding.resolutions) : [],
      },
    },
    import: {
      videos: {
        http: { enabled: config.import.videos.http.enabled },
        torrent: { enabled: config.import.videos.torrent.enabled },
      },
    },
    autoBlacklist: { videos: { ofUsers: { enabled: auto_blacklist.videos.of_users.enabled } } },
    avatar: { file: { size: { max: max_image_size }, extensions: ['.gif', ...IMAGE_EXTENSIONS] } },
    video: {
      image: { extensions: IMAGE_EXTENSIONS, size: { max: max_image_size } },
      file: { extensions: acceptedExtensions(config) },
    },
    videoCaption: { file: { size: { max: max_caption_size }, extensions: ['.vtt', '.srt'] } },
    user: { videoQuota: user.video_quota, videoQuotaDaily: user.video_quota_daily },
    trending: { videos: { intervalDays: trending.videos.interval_days } },
    tracker: { enabled: tracker.enabled },
  }
}

const registered = (plugins: readonly PluginRow[], type: PluginType): JsonObject[] =>
  plugins
    .filter(({ npm_name }) => typeOf(npm_name) === type)
    .map(({ npm_name, version, manifest }) => ({
      npmName: npm_name,
      name: shortName(npm_name),
      version,
      description: manifest.description,
    }))

/** The enabled resolutions in lines: `480p` gives 480, sound alone 0. */
const enabled = (resolutions: Readonly<Record<string, boolean>>): number[] =>
  Object.entries(resolutions)
    .filter(([, isOn]) => isOn)
    .map(([name]) => Number.parseInt(name, 10) || 0)
    .sort((a, b) => a - b)
