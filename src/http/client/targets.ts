// What the page of an address is about: a video, a playlist, an account, a channel, or the client as a whole.

import { findAccount } from '../../actors/account/index.ts'
import { type ChannelRow, findChannel } from '../../actors/channel/index.ts'
import { findPlaylist, playlistPrivacies } from '../../actors/playlist/index.ts'
import type { ActorProfile } from '../../actors/video/index.ts'
import type { Config } from '../../config/index.ts'
import type { Database } from '../../platform/database/index.ts'
import type { Html } from '../../platform/html.ts'
import { openVideo } from '../pages/open-video.ts'
import { siteOf } from '../pages/site.ts'
import { toActorHandle } from '../plugins/handles.ts'
import { idOrUuid } from '../plugins/schemas.ts'
import type { Here } from '../videos/actor.view.ts'
import { headTagsOf, type Subject } from './heads.ts'

export interface Target {
  status: 200 | 404
  title: string
  /** Null when the tags have it. */
  description: string | null
  /** For the head of the page. */
  tags: Html | undefined
}

export interface Targets {
  site(): Target
  video(id: string): Promise<Target>
  playlist(id: string): Promise<Target>
  account(handle: string): Promise<Target>
  channel(handle: string): Promise<Target>
  /** An account, or else a channel, of this name. */
  actor(handle: string): Promise<Target>
}

export interface TargetsDeps {
  db: Database
  config: () => Config
  urls: Here
}

const playlistKey = idOrUuid('playlist')

export function makeTargets({ db, config, urls }: TargetsDeps): Targets {
  const ourSite = () => siteOf(config())

  function missing(): Target {
    const { name, description } = ourSite()
    return { status: 404, title: name, description, tags: undefined }
  }

  function about(subject: Subject): Target {
    const site = ourSite()
    const { title, description, tags } = headTagsOf(subject, site, urls)
    return { status: 200, title: `${title} - ${site.name}`, description, tags }
  }

  const accountOf = (handle: string) => findAccount(db, toActorHandle(handle, urls.host))
  const channelOf = (handle: string) => findChannel(db, toActorHandle(handle, urls.host))
  const toAccount = (account: ActorProfile | undefined) => (account ? about({ kind: 'account', account }) : missing())
  const toChannel = (found: ChannelRow | undefined) =>
    found ? about({ kind: 'channel', channel: found.channel }) : missing()

  return {
    site() {
      const { name, description } = ourSite()
      return { status: 200, title: name, description, tags: undefined }
    },
    async video(id) {
      const video = await openVideo(db, id)
      if (!video) return missing()
      return about({ kind: 'video', video })
    },
    async playlist(id) {
      const key = playlistKey.safeParse(id).data
      const playlist = key && (await findPlaylist(db, key))
      if (!playlist || playlist.privacy === playlistPrivacies.private) return missing()
      if ('id' in key && playlist.privacy !== playlistPrivacies.public) return missing()
      return about({ kind: 'playlist', playlist })
    },
    account: async (handle) => toAccount(await accountOf(handle)),
    channel: async (handle) => toChannel(await channelOf(handle)),
    async actor(handle) {
      const account = await accountOf(handle)
      return account ? toAccount(account) : toChannel(await channelOf(handle))
    },
  }
}
