// The sitemap entry of each page (sitemaps.org). Pure.

import type { SitemapItemLoose } from 'sitemap'
import type { ListedPage } from '../../actors/sitemap/index.ts'
import { accountPath, channelPath, watchPath } from '../pages/addresses.ts'
import type { Here } from '../videos/actor.view.ts'

/**
 * Only its address and its last change, without texts: the files are cached for a day, and a video may become private in that time. Search
 * engines find the details in the video's page.
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
