// The head of a feed: its owner, its page, and its own address.

import type { ActorProfile, ActorSummary } from '../../actors/actor/index.ts'
import type { Config } from '../../config/index.ts'
import { oneLine } from '../../platform/plain-text.ts'
import { accountPath, channelPath } from '../pages/addresses.ts'
import type { Here } from '../videos/actor.view.ts'
import type { FeedHead } from './document.ts'

type Named = Pick<ActorSummary, 'username' | 'host'>

export const accountPage = (account: Named, here: Here): string => here.origin + accountPath(account)
export const channelPage = (channel: Named, here: Here): string => here.origin + channelPath(channel)
export { watchUrl as videoPage } from '../pages/addresses.ts'

/** The largest picture of an actor. */
export function avatarOf({ avatars }: Pick<ActorSummary, 'avatars'>, here: Here): string | undefined {
  const [largest] = avatars.toSorted((a, b) => (b.width ?? 0) - (a.width ?? 0))
  return largest && `${here.origin}/lazy-static/avatars/${largest.filename}`
}

export type HeadOf = Pick<FeedHead, 'title' | 'description' | 'link' | 'image'> & Partial<Pick<FeedHead, 'author'>>

/** The address of the feed, as an id in Atom: without the token of a private feed, which may change. */
export function feedId(self: FeedHead['self']): string {
  const address = new URL(self('atom'))
  address.searchParams.delete('token')
  return address.href
}

const iconOf = (here: Here): string => `${here.origin}/client/assets/images/icons/icon-96x96.png`
export const faviconOf = (here: Here): string => `${here.origin}/client/assets/images/favicon.png`

export function headOfInstance({ instance }: Config, here: Here): HeadOf {
  return {
    title: instance.name,
    description: oneLine(instance.short_description),
    link: here.origin,
    image: iconOf(here),
  }
}

export function headOfAccount(account: ActorProfile, here: Here): HeadOf {
  return {
    title: account.name,
    description: oneLine(account.description ?? ''),
    link: accountPage(account, here),
    image: avatarOf(account, here) ?? iconOf(here),
  }
}

export function headOfChannel(channel: ActorProfile, here: Here): HeadOf {
  return {
    title: channel.name,
    description: oneLine(channel.description ?? ''),
    link: channelPage(channel, here),
    image: avatarOf(channel, here) ?? iconOf(here),
  }
}

export function headOfVideo(video: { name: string; url: string; description: string | null }, here: Here): HeadOf {
  return {
    title: video.name,
    description: oneLine(video.description ?? ''),
    link: video.url,
    image: iconOf(here),
  }
}
