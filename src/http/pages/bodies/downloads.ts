// Downloads of a video's files, and addresses for sharing it.

import type { WatchedVideoRow } from '../../../actors/video/index.ts'
import { type Html, html, webUrl } from '../../../platform/html.ts'
import { t } from '../../../platform/language.ts'
import type { Here } from '../../videos/actor.view.ts'
import { toFileViews } from '../../videos/file.view.ts'
import { embedSize, embedUrl, watchUrl } from '../addresses.ts'
import { titleText } from '../heads/index.ts'
import { type FileToken, withToken } from '../sources.ts'
import { size } from './text.ts'

export function downloadsOf(video: WatchedVideoRow, here: Here, token: FileToken): Html | null {
  if (!video.download_enabled || video.is_live) return null
  const { files, streamingPlaylists } = toFileViews(video, here, token)
  const all = [
    ...files.map((file) => ({ ...file, kind: kindOf(file.fileUrl) })),
    ...streamingPlaylists.flatMap((playlist) => playlist.files.map((file) => ({ ...file, kind: 'HLS' }))),
  ].flatMap((file) => {
    const url = webUrl(withToken(file.fileDownloadUrl, here, token))
    return url === undefined ? [] : [{ ...file, url }]
  })
  if (all.length === 0) return null
  return html`<details><summary>${t('Download')}</summary><ul class="files">${all.map(
    ({ url, kind, resolution, fps, size: bytes, hasVideo, hasAudio }) =>
      html`<li><a href="${url}" download rel="nofollow">${resolution.label}</a> <span class="soft">${kind} · ${size(bytes)}${fps > 0 && html` · ${t('{rate} fps', { rate: fps })}`}${
        !hasVideo && html` · ${t('sound only')}`
      }${!hasAudio && html` · ${t('without sound')}`}</span></li>
`,
  )}</ul></details>`
}

const kindOf = (url: string): string => (/\.(\w+)$/.exec(URL.parse(url)?.pathname ?? '')?.[1] ?? '').toUpperCase()

/** Nothing for videos that are not open to everybody who has the link. */
export function shareOf(video: WatchedVideoRow, here: Here): Html {
  const { width, height } = embedSize(video.aspect_ratio)
  const frame = html`<iframe title="${titleText(video.name)}" width="${width}" height="${height}" src="${embedUrl(video, here)}" frameborder="0" allowfullscreen="" sandbox="allow-same-origin allow-scripts allow-popups allow-forms"></iframe>`
  return html`<details><summary>${t('Share')}</summary><div class="share"><label>${t('Link')}<input readonly dir="ltr" value="${watchUrl(
    video,
    here,
  )}"></label><label>${t('Embed')}<textarea readonly dir="ltr" rows="3">${frame.text}</textarea></label>${
    !video.is_live &&
    html`<p data-scripted hidden><label><input type="checkbox"> ${t('Start at')}</label> <input aria-label="${t('Time')}" value="0:00" size="8" pattern="(\\d+:){0,2}\\d+" inputmode="numeric" autocomplete="off"></p>`
  }</div></details>`
}
