// Metadata of the page of a playlist.

import { type PlaylistRow, playlistPrivacies } from '../../../actors/playlist/index.ts'
import { webUrl } from '../../../platform/html.ts'
import type { Here } from '../../videos/actor.view.ts'
import { embedSize, playlistEmbedUrl, playlistUrlOf } from '../addresses.ts'
import type { Site } from '../site.ts'
import type { Facts } from './tags.ts'
import { descriptionText, titleText } from './text.ts'

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
