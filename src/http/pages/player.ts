// The player of a video, and where its bytes come from.

import type { VideoDetailsRow } from '../../actors/video/index.ts'
import { type Html, html, webUrl } from '../../platform/html.ts'
import type { Here } from '../videos/actor.view.ts'
import { fileUrl, playlistUrl } from '../videos/file.view.ts'

export interface Sources {
  /** Master playlist. */
  hls: string | undefined
  /** Web videos, the largest first. */
  files: { url: string; type: string }[]
  /** Other servers that the bytes come from, for the page's policy. */
  origins: string[]
}

const TYPES: Readonly<Record<string, string>> = { '.mp4': 'video/mp4', '.webm': 'video/webm', '.ogv': 'video/ogg' }

/** Addresses that a player can read. Those of other servers are taken as they are, if they are of the web. */
export function sourcesOf(video: VideoDetailsRow, here: Here): Sources {
  const hls = webUrl(video.playlist && playlistUrl(video, video.playlist, here))
  const files = video.files
    .filter((file) => file.streaming_playlist_id === null)
    .flatMap((file) => {
      const url = webUrl(fileUrl(video, file, here))
      return url === undefined ? [] : [{ url, type: TYPES[file.extname] ?? 'video/mp4' }]
    })
  // Segments may lie beside the playlist or where its files are said to be.
  const segments = video.files.flatMap((file) => webUrl(file.file_url) ?? [])
  // Readers of files in object storage may be sent on to it.
  const origins = [...here.bucketOrigins, ...(hls ? [hls] : []), ...files.map(({ url }) => url), ...segments].map(
    (url) => new URL(url).origin,
  )
  return { hls, files, origins: [...new Set(origins)].filter((origin) => origin !== here.origin) }
}

export function playerOf(video: VideoDetailsRow, { hls, files }: Sources): Html {
  if (!hls && files.length === 0) return html`<p class="soft">This video cannot be watched yet.</p>`
  const poster = video.preview && `/lazy-static/previews/${video.preview}`
  return html`<div class="player"><video controls playsinline preload="metadata"${
    poster ? html` poster="${poster}"` : null
  }${hls ? html` data-hls="${hls}"` : null} aria-label="${video.name}">${
    hls ? html`<source src="${hls}" type="application/vnd.apple.mpegurl">` : null
  }${files.map((file) => html`<source src="${file.url}" type="${file.type}" data-fallback>`)}</video></div>`
}
