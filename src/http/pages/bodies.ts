// What the pages show.

import type { VideoDetailsRow, VideoListRow } from '../../actors/video/index.ts'
import { type Html, html, webUrl } from '../../platform/html.ts'
import { toShortUuid } from '../../platform/ids.ts'
import type { Here } from '../videos/actor.view.ts'
import { plainText } from './plain-text.ts'

export function watchBody(video: VideoDetailsRow, player: Html, here: Here): Html {
  const { channel, account } = video
  // Channels of ours have no page yet.
  const channelUrl = video.remote ? webUrl(channel.url) : undefined
  return html`<article>
${player}
<h1>${video.name}</h1>
<p class="facts">${day(video.published_at)}<span>${counted(video.views, 'view')}</span><span>${counted(video.likes, 'like')}</span>${
    video.nsfw && html`<span>sensitive</span>`
  }${video.remote && html`<span>from ${channel.host}</span>`}</p>
<p class="by"><strong>${channelUrl ? html`<a href="${channelUrl}">${channel.name}</a>` : channel.name}</strong><span>${
    account.name
  } · @${channel.username}@${channel.host ?? here.host}</span></p>
${video.description && html`<p class="text">${plainText(video.description)}</p>`}
${video.tags.length > 0 && html`<ul class="tags">${video.tags.map((tag) => html`<li>${tag}</li>`)}</ul>`}
</article>`
}

export function homeBody(videos: readonly VideoListRow[]): Html {
  if (videos.length === 0) return html`<h1>Latest videos</h1><p class="soft">There are no videos yet.</p>`
  return html`<h1>Latest videos</h1>
<ul class="videos">${videos.map(
    (video) => html`<li><a href="/w/${toShortUuid(video.uuid)}"><div class="picture">${
      video.thumbnail &&
      html`<img src="/lazy-static/thumbnails/${video.thumbnail}" alt="" loading="lazy" width="280" height="157">`
    }<time datetime="PT${video.duration}S">${clock(video.duration)}</time></div><h2>${video.name}</h2></a>
<p>${video.channel.name}</p><p>${day(video.published_at)} · ${counted(video.views, 'view')}</p></li>
`,
  )}</ul>`
}

export const aboutBody = (about: { name: string; description: string; terms: string }): Html =>
  html`<h1>About ${about.name}</h1>
<p class="text">${plainText(about.description)}</p>
${about.terms && html`<h2>Terms</h2><p class="text">${plainText(about.terms)}</p>`}`

export const missingBody = (): Html =>
  html`<h1>There is nothing here</h1>
<p>The video or page does not exist, or it is not for everybody. <a href="/">Latest videos</a></p>`

const day = (date: Date): Html =>
  html`<time datetime="${date.toISOString()}">${date.toLocaleDateString('en', { dateStyle: 'long', timeZone: 'UTC' })}</time>`

const counted = (count: number, noun: string): string =>
  `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`

/** Seconds as `1:02:03`. */
function clock(seconds: number): string {
  const hours = Math.floor(seconds / 3600)
  const minutes = Math.floor((seconds % 3600) / 60)
  const rest = String(seconds % 60).padStart(2, '0')
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, '0')}:${rest}` : `${minutes}:${rest}`
}
