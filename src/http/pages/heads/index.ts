// Heads of the pages: metadata for search engines, cards, feed readers and other servers. Also for an administrator's own web client.

import type { ActorProfile } from '../../../actors/actor/index.ts'
import type { PlaylistRow } from '../../../actors/playlist/index.ts'
import type { VideoDetailsRow } from '../../../actors/video/index.ts'
import { html } from '../../../platform/html.ts'
import { t } from '../../../platform/language.ts'
import type { Here } from '../../videos/actor.view.ts'
import { actorFacts, playlistFacts, videoFacts } from './facts.ts'
import { type Head, headOf, plainHead, type Site } from './tags.ts'

export { type Head, plainHead, platformTag, type Site, siteOf } from './tags.ts'
export { cut, descriptionText, titleText } from './text.ts'

/** The subject of a page. `embed`: only the player. */
export type Subject =
  | { kind: 'video'; video: VideoDetailsRow; embed?: boolean }
  | { kind: 'playlist'; playlist: PlaylistRow; embed?: boolean }
  | { kind: 'account' | 'channel'; actor: ActorProfile }
  | { kind: 'home' }

export function headTagsOf(subject: Subject, { site, here }: { site: Site; here: Here }): Head {
  if (subject.kind === 'home') return homeHead(site, here)
  if (subject.kind === 'video') return headOf(videoFacts(subject.video, site, here), site, subject)
  if (subject.kind === 'playlist') return headOf(playlistFacts(subject.playlist, site, here), site, subject)
  return headOf(actorFacts(subject, site, here), site)
}

function homeHead(site: Site, here: Here): Head {
  const head = plainHead(site)
  const feed = `${here.origin}/feeds/videos.xml`
  const tags = html`${head.tags}<link rel="canonical" href="${here.origin}/">
<link rel="alternate" type="application/rss+xml" href="${feed}" title="${t('Latest videos')}">
`
  return { ...head, tags }
}
