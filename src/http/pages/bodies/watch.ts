// The page of a video.

import type { VideoDetailsRow } from '../../../actors/video/index.ts'
import { type Html, html, webUrl } from '../../../platform/html.ts'
import type { Here } from '../../videos/actor.view.ts'
import { plainText } from '../plain-text.ts'
import { counted, day } from './text.ts'

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
