// The subject of an address: a video, a playlist, an account, a channel, or the client as a whole.

import { findAccount } from '../../actors/account/index.ts'
import type { ActorProfile } from '../../actors/actor/index.ts'
import { type ChannelRow, findChannel } from '../../actors/channel/index.ts'
import { findPlaylist, isOpenPlaylistBy } from '../../actors/playlist/index.ts'
import { findVideoDetails, isOpenBy, mayAskRemote } from '../../actors/video/index.ts'
import type { Config } from '../../config/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { type Head, headTagsOf, plainHead, type Subject, siteOf } from '../pages/heads/index.ts'
import { toActorHandle } from '../plugins/handles.ts'
import { idOrUuid } from '../plugins/schemas.ts'
import type { Here } from '../videos/actor.view.ts'
import type { Part, VideoResponseCache } from '../videos/response-cache.ts'

export interface Target {
  status: 200 | 404
  head: Pick<Head, 'title' | 'description' | 'tags'>
}

/** `embed`: for the page with only the player. */
type Find = (key: string, options?: { embed?: boolean }) => Promise<Target>

export interface Targets {
  site(): Target
  video: Find
  playlist: Find
  account: Find
  channel: Find
  /** An account of this name, or a channel. */
  actor: Find
}

export interface TargetsDeps {
  db: Database
  config: () => Config
  urls: Here
  /** Cache of the shared parts of videos' pages; without it each is built again. */
  answers?: Pick<VideoResponseCache, 'ofParts'>
}

interface VideoPart extends Part {
  target: Target
}

const videoKey = idOrUuid('video')
const playlistKey = idOrUuid('playlist')

export function makeTargets({ db, config, urls, answers }: TargetsDeps): Targets {
  const kept = answers?.ofParts<VideoPart>()
  const site = () => siteOf(config())
  const mayAsk = () => mayAskRemote(false, config().search.remote_uri)
  const missing = (): Target => ({ status: 404, head: plainHead(site(), undefined, { isIndexed: false }) })
  const about = (subject: Subject): Target => ({
    status: 200,
    head: headTagsOf(subject, { site: site(), here: urls }),
  })

  async function findVideo(id: string, embed: boolean): Promise<VideoPart | undefined> {
    const key = videoKey.safeParse(id).data
    const video = key && (await findVideoDetails(db, key))
    const isShown = video && isOpenBy(video, { byId: 'id' in key }) && (!video.remote || video.listed || mayAsk())
    if (!isShown) return undefined
    const target = about({ kind: 'video', video, embed })
    return { target, videoId: video.id, body: target.head.tags.text }
  }

  const accountOf = (handle: string) => findAccount(db, toActorHandle(handle, urls.host))
  const channelOf = (handle: string) => findChannel(db, toActorHandle(handle, urls.host))
  const toAccount = (actor: ActorProfile | undefined) => (actor ? about({ kind: 'account', actor }) : missing())
  const toChannel = (found: ChannelRow | undefined) => (found ? about({ kind: 'channel', actor: found.channel }) : missing())

  return {
    site: () => ({ status: 200, head: plainHead(site()) }),
    async video(id, { embed = false } = {}) {
      const find = () => findVideo(id, embed)
      const part = kept ? await kept(`${embed ? 'embed' : 'page'} ${id}`, find) : await find()
      return part?.target ?? missing()
    },
    async playlist(id, { embed = false } = {}) {
      const key = playlistKey.safeParse(id).data
      const playlist = key && (await findPlaylist(db, key))
      const isOpen = playlist && isOpenPlaylistBy(playlist.privacy, { byId: 'id' in key })
      return isOpen ? about({ kind: 'playlist', playlist, embed }) : missing()
    },
    account: async (handle) => toAccount(await accountOf(handle)),
    channel: async (handle) => toChannel(await channelOf(handle)),
    async actor(handle) {
      const account = await accountOf(handle)
      return account ? toAccount(account) : toChannel(await channelOf(handle))
    },
  }
}
