// Metadata of the pages of videos, playlists, accounts and channels.

import type { ActorProfile } from '../../../actors/actor/index.ts'
import { type PlaylistRow, playlistPrivacies } from '../../../actors/playlist/index.ts'
import { isOpen, type VideoDetailsRow, videoPrivacies } from '../../../actors/video/index.ts'
import { webUrl } from '../../../platform/html.ts'
import { t } from '../../../platform/language.ts'
import type { Here } from '../../videos/actor.view.ts'
import {
  accountPath,
  avatarPath,
  channelPath,
  embedSize,
  embedUrl,
  playlistEmbedUrl,
  playlistUrlOf,
  previewUrl,
  watchUrl,
} from '../addresses.ts'
import type { Site } from '../site.ts'
import type { Facts } from './tags.ts'
import { descriptionText, titleText } from './text.ts'

export function videoFacts(video: VideoDetailsRow, site: Site, here: Here): Facts {
  const url = watchUrl(video, here)
  const embed = embedUrl(video, here)
  const image = previewUrl(video, here)
  const name = titleText(video.name)
  const description = descriptionText(video.description) || site.description
  return {
    name,
    description,
    url,
    image,
    type: 'video',
    canonical: video.remote ? webUrl(video.url) : undefined,
    player: { url: embed, ...embedSize(video.aspect_ratio) },
    oembed: `${here.origin}/services/oembed?url=${encodeURIComponent(url)}`,
    isIndexed: !video.remote && video.privacy === videoPrivacies.public && !video.blocked,
    feeds: feedsOf(video, here),
    document: isOpen(video) ? webUrl(video.url) : undefined,
    schema: {
      '@context': 'http://schema.org',
      '@type': 'VideoObject',
      name,
      description,
      image,
      url,
      embedUrl: embed,
      uploadDate: video.published_at.toISOString(),
      duration: `PT${video.duration}S`,
      thumbnailUrl: image,
      interactionStatistic: {
        '@type': 'InteractionCounter',
        interactionType: { '@type': 'WatchAction' },
        userInteractionCount: video.views,
      },
    },
  }
}

const feedsOf = ({ uuid, channel, account }: VideoDetailsRow, { origin }: Here) => [
  {
    title: t('Videos of {name}', { name: titleText(channel.name) }),
    href: `${origin}/feeds/videos.xml?videoChannelId=${channel.id}`,
  },
  { title: t('Videos of {name}', { name: titleText(account.name) }), href: `${origin}/feeds/videos.xml?accountId=${account.id}` },
  { title: t('Comments'), href: `${origin}/feeds/video-comments.xml?videoId=${uuid}` },
]

export function playlistFacts(playlist: PlaylistRow, site: Site, here: Here): Facts {
  const url = playlistUrlOf(playlist, here)
  const embed = playlistEmbedUrl(playlist, here)
  const image = playlist.thumbnail && `${here.origin}/lazy-static/thumbnails/${playlist.thumbnail}`
  const name = titleText(playlist.name)
  const description = descriptionText(playlist.description)
  return {
    name,
    url,
    image,
    description: description || site.description,
    type: 'video',
    canonical: playlist.remote ? webUrl(playlist.url) : undefined,
    player: { url: embed, ...embedSize(null) },
    oembed: `${here.origin}/services/oembed?url=${encodeURIComponent(url)}`,
    isIndexed: !playlist.remote && playlist.privacy === playlistPrivacies.public,
    document: webUrl(playlist.url),
    schema: {
      '@context': 'http://schema.org',
      '@type': 'ItemList',
      name,
      description,
      image,
      url,
      numberOfItems: playlist.elements_count,
      thumbnailUrl: image,
      embedUrl: embed,
      uploadDate: playlist.created_at.toISOString(),
    },
  }
}

/** px; wide enough for cards. */
const IMAGE_WIDTH = 600

export function actorFacts({ kind, actor }: { kind: 'account' | 'channel'; actor: ActorProfile }, site: Site, here: Here): Facts {
  const url = here.origin + (kind === 'account' ? accountPath(actor) : channelPath(actor))
  const name = titleText(actor.name)
  const description = descriptionText(actor.description)
  const avatar = avatarPath(actor, IMAGE_WIDTH)
  const image = avatar === undefined ? null : here.origin + avatar
  const feed = `${here.origin}/feeds/videos.xml?${kind === 'account' ? 'accountId' : 'videoChannelId'}=${actor.id}`
  return {
    name,
    url,
    image,
    description: description || site.description,
    type: 'website',
    canonical: actor.host === null ? undefined : webUrl(actor.url),
    isIndexed: actor.host === null,
    feeds: [{ title: t('Videos of {name}', { name }), href: feed }],
    document: webUrl(actor.url),
    schema: {
      '@context': 'http://schema.org',
      '@type': 'ProfilePage',
      dateCreated: new Date(actor.created_at).toISOString(),
      dateModified: new Date(actor.updated_at).toISOString(),
      mainEntity: { '@id': '#main-author', '@type': 'Person', name, description, ...(image ? { image } : {}) },
    },
  }
}
