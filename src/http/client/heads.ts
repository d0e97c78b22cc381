// What a page of a client says of its subject in its head. The tags are those of our own pages.

import type { PlaylistRow } from '../../actors/playlist/index.ts'
import type { ActorProfile, VideoDetailsRow } from '../../actors/video/index.ts'
import { type Html, html } from '../../platform/html.ts'
import { accountPage, channelPage } from '../feeds/heads.ts'
import { cardsOf } from '../pages/heads/video.ts'
import { oneLine } from '../pages/plain-text.ts'
import type { Site } from '../pages/site.ts'
import type { Here } from '../videos/actor.view.ts'
import { truncated } from '../videos/video.view.ts'

/** Whom or what a page shows. */
export type Subject =
  | { kind: 'video'; video: VideoDetailsRow }
  | { kind: 'playlist'; playlist: PlaylistRow }
  | { kind: 'account'; account: ActorProfile }
  | { kind: 'channel'; channel: ActorProfile }

export interface Head {
  title: string
  /** One line; null when the tags have it. */
  description: string | null
  tags: Html
}

export function headTagsOf(subject: Subject, site: Site, here: Here): Head {
  switch (subject.kind) {
    case 'video':
      return { title: subject.video.name, description: null, tags: cardsOf(subject.video, site, here) }
    case 'playlist': {
      const { name, description, url } = subject.playlist
      return { title: name, description: summary(description, site), tags: canonical(url) }
    }
    case 'account': {
      const { name, description, host, url } = subject.account
      const page = host === null ? accountPage(subject.account, here) : url
      return { title: name, description: summary(description, site), tags: canonical(page) }
    }
    case 'channel': {
      const { name, description, host, url } = subject.channel
      const page = host === null ? channelPage(subject.channel, here) : url
      return { title: name, description: summary(description, site), tags: canonical(page) }
    }
  }
}

const summary = (text: string | null, site: Site): string => truncated(oneLine(text ?? '')) || site.description
const canonical = (url: string): Html => html`<link rel="canonical" href="${url}">`
