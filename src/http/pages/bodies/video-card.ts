// A video in a list: its picture, length, name, channel, day and views.

import type { VideoListRow } from '../../../actors/video/index.ts'
import { type Html, html } from '../../../platform/html.ts'
import { channelPath, watchPath } from '../addresses.ts'
import { clock, counted, day } from './text.ts'

export const videoCards = (videos: readonly VideoListRow[]): Html =>
  html`<ul class="videos">${videos.map(videoCard)}</ul>`

const videoCard = (video: VideoListRow): Html =>
  html`<li><a href="${watchPath(video)}"><div class="picture">${
    video.thumbnail &&
    html`<img src="/lazy-static/thumbnails/${video.thumbnail}" alt="" loading="lazy" width="280" height="157">`
  }<time datetime="PT${video.duration}S">${clock(video.duration)}</time></div><h2>${video.name}</h2></a>
<p><a href="${channelPath(video.channel)}"><bdi>${video.channel.name}</bdi></a></p><p>${day(video.published_at)} · ${counted(video.views, 'view')}</p></li>
`
