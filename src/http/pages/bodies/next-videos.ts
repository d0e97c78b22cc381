// What to watch next: the latest others of the channel, as a narrow list.

import type { NextVideo, WatchedVideoRow } from '../../../actors/video/index.ts'
import { type Html, html } from '../../../platform/html.ts'
import { channelPath, watchPath } from '../addresses.ts'
import { clock, counted, day } from './text.ts'

export function nextVideos({ next, channel }: WatchedVideoRow): Html | null {
  if (next.length === 0) return null
  return html`<h2>More of <a href="${channelPath(channel)}"><bdi>${channel.name}</bdi></a></h2>
<ul class="rows">${next.map((video) => html`<li>${rowOf(video)}</li>\n`)}</ul>`
}

const rowOf = (video: NextVideo): Html =>
  html`<a href="${watchPath(video)}">${pictureOf(video)}<span class="about"><strong dir="auto">${
    video.name
  }</strong><span>${day(new Date(video.published_at))} · ${counted(video.views, 'view')}</span></span></a>`

export const pictureOf = ({ thumbnail, duration }: { thumbnail: string | null; duration: number }): Html =>
  html`<span class="picture">${
    thumbnail && html`<img src="/lazy-static/thumbnails/${thumbnail}" alt="" loading="lazy" width="280" height="157">`
  }<time datetime="PT${duration}S">${clock(duration)}</time></span>`
