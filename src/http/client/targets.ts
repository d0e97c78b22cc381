// What the page of an address is about: a video, a playlist, an account, a channel, or the client as a whole.

import { type FoundAccount, findAccount } from '../../actors/account/index.ts'
import { type FoundChannel, findChannelByHandle } from '../../actors/channel/index.ts'
import { findPlaylist, isOpenPlaylist, playlistPrivacies } from '../../actors/playlist/index.ts'
import { findVideoDetails, isOpen, videoPrivacies } from '../../actors/video/index.ts'
import type { Config } from '../../config/index.ts'
import type { Database } from '../../platform/database/index.ts'
import type { Html } from '../../platform/html.ts'
import { headTagsOf, type Site, type Subject } from '../pages/heads.ts'
import { toActorHandle } from '../plugins/handles.ts'
import { idOrUuid } from '../plugins/schemas.ts'
import type { Here } from '../videos/actor.view.ts'

export interface Target {
  status: 200 | 404
  title: string
  description: string
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

const videoKey = idOrUuid('video')
const playlistKey = idOrUuid('playlist')

export function makeTargets({ db, config, urls }: TargetsDeps): Targets {
  const siteOf = (): Site => {
    const { instance, services } = config()
    return { name: instance.name, description: instance.short_description, twitter: services.twitter.username }
  }

  function missing(): Target {
    const { name, description } = siteOf()
    return { status: 404, title: name, description, tags: undefined }
  }

  function about(subject: Subject): Target {
    const site = siteOf()
    const { title, description, tags } = headTagsOf(subject, site, urls)
    return { status: 200, title: `${title} - ${site.name}`, description, tags }
  }

  const accountOf = (handle: string) => findAccount(db, toActorHandle(handle, urls.host))
  const channelOf = (handle: string) => findChannelByHandle(db, toActorHandle(handle, urls.host))
  const toAccount = (account: FoundAccount | undefined) => (account ? about({ kind: 'account', account }) : missing())
  const toChannel = (channel: FoundChannel | undefined) => (channel ? about({ kind: 'channel', channel }) : missing())

  return {
    site() {
      const { name, description } = siteOf()
      return { status: 200, title: name, description, tags: undefined }
    },
    async video(id) {
      const key = videoKey.safeParse(id).data
      const video = key && (await findVideoDetails(db, key))
      // What is unlisted is not found by its number.
      if (!video || !isOpen(video) || ('id' in key && video.privacy !== videoPrivacies.public)) return missing()
      return about({ kind: 'video', video })
    },
    async playlist(id) {
      const key = playlistKey.safeParse(id).data
      const playlist = key && (await findPlaylist(db, key))
      if (!playlist || !isOpenPlaylist(playlist.privacy)) return missing()
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
