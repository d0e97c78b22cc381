// Metadata of the page of a video.

import type { VideoDetailsRow } from '../../../actors/video/index.ts'
import { isOpen, videoPrivacies } from '../../../actors/video/index.ts'
import { webUrl } from '../../../platform/html.ts'
import { t } from '../../../platform/language.ts'
import type { Here } from '../../videos/actor.view.ts'
import { embedSize, embedUrl, previewUrl, watchUrl } from '../addresses.ts'
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
