// The first page.

import type { VideoListRow } from '../../../actors/video/index.ts'
import { type Html, html } from '../../../platform/html.ts'
import { videoCards } from './video-card.ts'

export function homeBody(videos: readonly VideoListRow[]): Html {
  if (videos.length === 0) return html`<h1>Latest videos</h1><p class="soft">There are no videos yet.</p>`
  return html`<h1>Latest videos</h1>
${videoCards(videos)}`
}
