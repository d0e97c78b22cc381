// A video in a list: its picture, length, name, channel, day and views.

import type { VideoListRow } from '../../../actors/video/index.ts'
import { type Html, html } from '../../../platform/html.ts'
import { channelPath, watchPath } from '../addresses.ts'
import { pictureOf, sensitiveMark } from './picture.ts'
import { counted, day } from './text.ts'

/** `covers`: cover the pictures of sensitive videos. */
export const videoCards = (videos: readonly VideoListRow[], options: { covers: boolean }): Html =>
  html`<ul class="videos">${videos.map((video) => videoCard(video, options))}</ul>`

const videoCard = (video: VideoListRow, options: { covers: boolean }): Html =>
  html`<li><a href="${watchPath(video)}">${pictureOf(video, options)}<h2 dir="auto">${video.name}</h2></a>
<p><a href="${channelPath(video.channel)}"><bdi>${video.channel.name}</bdi></a></p><p>${day(video.published_at)} · ${counted.views(video.views)}${sensitiveMark(video)}</p></li>
`
