// Suggestions: the latest other videos of the channel, as a narrow list.

import type { NextVideo, WatchedVideoRow } from '../../../actors/video/index.ts'
import { type Html, html, rich } from '../../../platform/html.ts'
import { channelPath, watchPath } from '../addresses.ts'
import { pictureOf, sensitiveMark } from './picture.ts'
import { counted, day } from './text.ts'

/** `covers`: cover the pictures of sensitive videos. */
export function nextVideos({ next, channel }: WatchedVideoRow, options: { covers: boolean }): Html | null {
  if (next.length === 0) return null
  return html`<h2>${rich('More of {name}', { name: html`<a href="${channelPath(channel)}"><bdi>${channel.name}</bdi></a>` })}</h2>
<ul class="rows">${next.map((video) => html`<li>${rowOf(video, options)}</li>\n`)}</ul>`
}

const rowOf = (video: NextVideo, options: { covers: boolean }): Html =>
  html`<a href="${watchPath(video)}">${pictureOf(video, options)}<span class="about"><strong dir="auto">${
    video.name
  }</strong><span>${day(new Date(video.published_at))} · ${counted.views(video.views)}${sensitiveMark(video)}</span></span></a>`
