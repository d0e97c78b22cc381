// Sources of a video's bytes: addresses that a player can read.

import { type FileTokens, resolutionLabel, type VideoDetailsRow } from '../../actors/video/index.ts'
import { webUrl } from '../../platform/html.ts'
import type { Here } from '../videos/actor.view.ts'
import { fileUrl, playlistUrl } from '../videos/file.view.ts'

export interface Source {
  url: string
  type: string
  /** Such as `720p`. */
  label: string
}

export type Sources = ReturnType<typeof sourcesOf>

/** The token that a player needs for private files. */
export type FileToken = Awaited<ReturnType<FileTokens['issue']>>['token'] | undefined

const TYPES: Readonly<Record<string, string>> = { '.mp4': 'video/mp4', '.webm': 'video/webm', '.ogv': 'video/ogg' }
const AUDIO_AND_VIDEO = 3

/**
 * Addresses of remote files are used if they are web addresses. Renditions of HLS are whole files as well: if a video has no others,
 * browsers without HLS play those with sound. `hls` is the master playlist, `files` begins with the largest, and `origins` are other servers
 * that the bytes come from, for the page's policy.
 */
export function sourcesOf(video: VideoDetailsRow, here: Here, token?: FileToken) {
  // The playlist of a live that is over, or not yet begun, plays nothing new.
  if (video.is_live && video.state !== 'published') return { hls: undefined, files: [] as Source[], origins: [] }
  const own = (url: string | undefined) => url && withToken(url, here, token)
  const hls = webUrl(video.playlist && own(playlistUrl(video, video.playlist, here)))
  const web = video.files.filter((file) => file.streaming_playlist_id === null)
  const whole = web.length > 0 ? web : video.files.filter(({ streams }) => streams === AUDIO_AND_VIDEO)
  const files = whole.flatMap((file): Source[] => {
    const url = webUrl(own(fileUrl(video, file, here)))
    return url === undefined ? [] : [{ url, type: TYPES[file.extname] ?? 'video/mp4', label: resolutionLabel(file.resolution) }]
  })
  // Segments may be in the folder of the playlist or at the addresses of their files.
  const segments = video.files.flatMap((file) => webUrl(file.file_url) ?? [])
  // Readers of files in object storage may be redirected to it.
  const sources = [...here.bucketOrigins, ...(hls ? [hls] : []), ...files.map(({ url }) => url), ...segments]
  const origins = sources.map((url) => new URL(url).origin)
  return { hls, files, origins: [...new Set(origins)].filter((origin) => origin !== here.origin) }
}

/** Adds the token; a playlist must add it to the files that it names. */
export function withToken(url: string, here: Here, token: FileToken): string {
  if (token === undefined || (!url.startsWith(`${here.origin}/`) && !url.startsWith('/'))) return url
  const query = `videoFileToken=${encodeURIComponent(token)}${url.endsWith('.m3u8') ? '&reinjectVideoFileToken=true' : ''}`
  return `${url}${url.includes('?') ? '&' : '?'}${query}`
}
