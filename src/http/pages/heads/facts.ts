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
import type { Facts, Site } from './tags.ts'
import { descriptionText, titleText } from './text.ts'

export function videoFacts(video: VideoDetailsRow, site: Site, here: Here): Facts {
  const isPublic = video.privacy === videoPrivacies.public && !video.blocked
  const place = { url: watchUrl(video, here), embed: embedUrl(video, here), image: previewUrl(video, here), ratio: video.aspect_ratio }
  const schema = {
    '@type': 'VideoObject',
    uploadDate: video.published_at.toISOString(),
    duration: `PT${video.duration}S`,
    interactionStatistic: {
      '@type': 'InteractionCounter',
      interactionType: { '@type': 'WatchAction' },
      userInteractionCount: video.views,
    },
  }
  const document = isOpen(video) ? webUrl(video.url) : undefined
  return { ...playedFacts(video, { ...place, isPublic, schema }, site, here), feeds: feedsOf(video, here), document }
}

const feedsOf = ({ uuid, channel, account }: VideoDetailsRow, { origin }: Here) => [
  { title: t('Videos of {name}', { name: titleText(channel.name) }), href: `${origin}/feeds/videos.xml?videoChannelId=${channel.id}` },
  { title: t('Videos of {name}', { name: titleText(account.name) }), href: `${origin}/feeds/videos.xml?accountId=${account.id}` },
  { title: t('Comments'), href: `${origin}/feeds/video-comments.xml?videoId=${uuid}` },
]

export function playlistFacts(playlist: PlaylistRow, site: Site, here: Here): Facts {
  const isPublic = playlist.privacy === playlistPrivacies.public
  const image = playlist.thumbnail && `${here.origin}/lazy-static/thumbnails/${playlist.thumbnail}`
  const place = { url: playlistUrlOf(playlist, here), embed: playlistEmbedUrl(playlist, here), image, ratio: null }
  const schema = { '@type': 'ItemList', numberOfItems: playlist.elements_count, uploadDate: playlist.created_at.toISOString() }
  return playedFacts(playlist, { ...place, isPublic, schema }, site, here)
}

type Played = Pick<PlaylistRow, 'name' | 'description' | 'remote' | 'url'>
type Place = { url: string; embed: string; image: string | null; ratio: number | null; isPublic: boolean; schema: object }

function playedFacts(played: Played, { url, embed, image, ratio, isPublic, schema }: Place, site: Site, here: Here): Facts {
  const name = titleText(played.name)
  const description = descriptionText(played.description) || site.description
  return {
    name,
    url,
    image,
    description,
    type: 'video',
    canonical: played.remote ? webUrl(played.url) : undefined,
    player: { url: embed, ...embedSize(ratio) },
    oembed: `${here.origin}/services/oembed?url=${encodeURIComponent(url)}`,
    isIndexed: isPublic && !played.remote,
    document: webUrl(played.url),
    schema: { '@context': 'http://schema.org', name, description, image, url, embedUrl: embed, thumbnailUrl: image, ...schema },
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
