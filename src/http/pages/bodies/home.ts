// The home page: the administrator's content, and the latest videos.

import { type Html, html } from '../../../platform/html.ts'
import { t } from '../../../platform/language.ts'
import type { VideoPage } from '../video-page.ts'
import { tabs, videosOr } from './listing.ts'
import { LISTS, type ListName } from './lists.ts'
import { bannerOf } from './picture.ts'

export interface Home {
  name: string
  /** File name of the widest picture. */
  banner: string | undefined
  /** Written by the administrator. */
  content: Html | undefined
  videos: VideoPage
}

export const homeBody = ({ name, banner, content, videos }: Home): Html =>
  html`${bannerOf(banner)}${content ? html`<h1>${name}</h1>${content}<h2>${t('Latest videos')}</h2>` : html`<h1>${t('Latest videos')}</h1>`}
${listTabs('latest')}
${videosOr(t('There are no videos yet.'), LISTS.latest.path, videos)}`

/** Tabs of the public lists. */
const listTabs = (open: ListName | undefined): Html =>
  tabs(
    t('Lists of videos'),
    Object.entries(LISTS).map(([key, { name, path }]) => ({ name, path, isOpen: key === open })),
  )

export const browseBody = (open: ListName | undefined, path: string, videos: VideoPage): Html =>
  html`<h1>${open === undefined ? t('Videos') : LISTS[open].title}</h1>
${listTabs(open)}
${videosOr(t('There are no videos yet.'), path, videos)}`

export const subscriptionsBody = (videos: VideoPage): Html =>
  html`<h1>${t('Your subscriptions')}</h1>
${videosOr(t('There are no videos yet of the channels that you subscribed to.'), '/videos/subscriptions', videos)}`
