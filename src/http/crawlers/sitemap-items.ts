// What a sitemap says of each page (sitemaps.org). Pure.

import type { SitemapItemLoose } from 'sitemap'
import type { ListedPage } from '../../actors/sitemap/index.ts'
import { accountPath, channelPath, watchPath } from '../pages/addresses.ts'
import type { Here } from '../videos/actor.view.ts'

/**
 * Its address and when it changed, and no words of it: the files are kept for a day, and a video may be made private in that time. What
 * search engines want to know of a video is in its page.
 */
export const sitemapItem = (page: ListedPage, { origin }: Pick<Here, 'origin'>): SitemapItemLoose => ({
  url: origin + pathOf(page),
  lastmod: page.changedAt.toISOString(),
})

function pathOf(page: ListedPage): string {
  if (page.kind === 'video') return watchPath(page)
  const path = page.kind === 'account' ? accountPath : channelPath
  return path({ username: page.name, host: null })
}
