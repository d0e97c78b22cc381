// What a page of a video tells machines about it: OpenGraph, Twitter cards, oEmbed, schema.org, ActivityPub.

import type { VideoDetailsRow } from '../../../actors/video/index.ts'
import { isOpen, videoPrivacies } from '../../../actors/video/index.ts'
import { type Html, html, jsonScript } from '../../../platform/html.ts'
import type { Here } from '../../videos/actor.view.ts'
import { truncated } from '../../videos/video.view.ts'
import { EMBED, embedUrl, previewUrl, watchUrl } from '../addresses.ts'
import { oneLine } from '../plain-text.ts'
import type { Site } from '../site.ts'

/** The description on one line, short enough for cards. */
const summaryOf = (video: VideoDetailsRow, site: Site): string =>
  truncated(oneLine(video.description ?? '')) || site.description

/** The tags for the head of the video's page. */
export function cardsOf(video: VideoDetailsRow, site: Site, here: Here): Html {
  const page = watchUrl(video, here)
  const embed = embedUrl(video, here)
  const image = previewUrl(video, here)
  const description = summaryOf(video, site)
  const { width, height } = EMBED
  const properties: [string, string | number | null][] = [
    ['og:platform', 'Vireo'],
    ['og:type', 'video'],
    ['og:site_name', site.name],
    ['og:title', video.name],
    ['og:image', image],
    ['og:url', page],
    ['og:description', description],
    ['og:video:url', embed],
    ['og:video:secure_url', embed],
    ['og:video:type', 'text/html'],
    ['og:video:width', width],
    ['og:video:height', height],
  ]
  const names: [string, string | number | null][] = [
    ['description', description],
    ['twitter:card', 'player'],
    ['twitter:site', site.twitter || null],
    ['twitter:title', video.name],
    ['twitter:description', description],
    ['twitter:image', image],
    ['twitter:player', embed],
    ['twitter:player:width', width],
    ['twitter:player:height', height],
  ]
  const hidden = video.remote || video.privacy !== videoPrivacies.public
  const canonical = video.remote ? video.url : page
  return html`${properties.map(
    ([name, content]) =>
      content !== null &&
      html`<meta property="${name}" content="${content}">
`,
  )}${names.map(
    ([name, content]) =>
      content !== null &&
      html`<meta name="${name}" content="${content}">
`,
  )}${
    hidden &&
    html`<meta name="robots" content="noindex">
`
  }<link rel="canonical" href="${canonical}">
<link rel="alternate" type="application/json+oembed" href="${here.origin}/services/oembed?url=${encodeURIComponent(page)}" title="${video.name}">
${
  isOpen(video) &&
  html`<link rel="alternate" type="application/activity+json" href="${video.url}">
`
}${jsonScript(schemaOf(video, { page, embed, image, description }))}`
}

function schemaOf(
  video: VideoDetailsRow,
  { page, embed, image, description }: { page: string; embed: string; image: string | null; description: string },
) {
  return {
    '@context': 'http://schema.org',
    '@type': 'VideoObject',
    name: video.name,
    description,
    image,
    url: page,
    embedUrl: embed,
    uploadDate: video.published_at.toISOString(),
    duration: `PT${video.duration}S`,
    thumbnailUrl: image,
    interactionStatistic: {
      '@type': 'InteractionCounter',
      interactionType: { '@type': 'WatchAction' },
      userInteractionCount: video.views,
    },
  }
}
