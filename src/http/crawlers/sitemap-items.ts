// What a sitemap says of each page (sitemaps.org, with the extension for videos). Pure.

import type { SitemapItemLoose } from 'sitemap'
import type { ListedPage } from '../../actors/sitemap/index.ts'
import { accountPath, channelPath, embedUrl, previewUrl, watchUrl } from '../pages/addresses.ts'
import { descriptionText, titleText } from '../pages/heads/index.ts'
import type { Here } from '../videos/actor.view.ts'

/** Seconds; the extension knows no longer videos. */
const LONGEST = 28_800
/** The extension takes no more. */
const MOST_TAGS = 32
const LONGEST_TITLE = 100

export function sitemapItem(page: ListedPage, here: Here): SitemapItemLoose {
  if (page.kind !== 'video') {
    const path = page.kind === 'account' ? accountPath : channelPath
    return { url: here.origin + path({ username: page.name, host: null }), lastmod: page.changedAt.toISOString() }
  }
  const { video } = page
  const { name, duration, nsfw, isLive, tags, publishedAt, changedAt } = video
  const url = watchUrl(video, here)
  const lastmod = changedAt.toISOString()
  const thumbnail = previewUrl(video, here)
  // A video without a picture is none to the extension.
  if (thumbnail === null) return { url, lastmod }
  return {
    url,
    lastmod,
    video: {
      title: titleText(name).slice(0, LONGEST_TITLE),
      description: descriptionText(video.description) || titleText(name),
      player_loc: embedUrl(video, here),
      thumbnail_loc: thumbnail,
      publication_date: publishedAt.toISOString(),
      family_friendly: !nsfw,
      ...(duration >= 1 && duration <= LONGEST ? { duration } : {}),
      ...(isLive ? { live: true } : {}),
      ...(tags.length > 0 ? { tag: tags.slice(0, MOST_TAGS) } : {}),
    },
  }
}
