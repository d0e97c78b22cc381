// The links of a video: its page, files, HLS playlists, trackers, and the links of each file.

import { z } from 'zod'
import type { JsonObject } from './context.ts'
import { asList, BOUNDS, isHttpUrl, listOf, optionalCount, optionalNumber, optionalText } from './read.ts'

export interface VideoFileDocument {
  url: string
  mediaType: string
  /** px; 0 for sound alone. */
  height: number
  width: number | null
  sizeBytes: number
  /** -1 if it is unknown. */
  fps: number
  hasAudio: boolean
  hasVideo: boolean
  /** The format flags of the file, as the reference names them. */
  formats: ('web-video' | 'fragmented')[]
  /** Address of the ffprobe output. */
  metadataUrl: string | null
  torrentUrl: string | null
  magnetUri: string | null
}

export interface HlsDocument {
  /** The master playlist. */
  url: string
  infohashes: string[]
  segmentsSha256Url: string | null
  files: VideoFileDocument[]
}

export interface TrackerDocument {
  name: string
  kind: 'http' | 'websocket'
  url: string
}

export interface VideoLinks {
  page: string | null
  files: VideoFileDocument[]
  playlists: HlsDocument[]
  trackers: TrackerDocument[]
}

const TORRENT = 'application/x-bittorrent'
const MAGNET = 'application/x-bittorrent;x-scheme-handler/magnet'
const HLS = 'application/x-mpegURL'
const HLS_TYPES = new Set([HLS.toLowerCase(), 'application/vnd.apple.mpegurl'])
const INFOHASH = /^[0-9a-fA-F]{40}$/

const link = z.object({
  type: optionalText(50),
  name: optionalText(BOUNDS.shortText),
  // Older versions use `mimeType` and `url`.
  mediaType: optionalText(100),
  mimeType: optionalText(100),
  href: z
    .string()
    .max(4 * BOUNDS.url)
    .nullish()
    .catch(null),
  url: z
    .string()
    .max(4 * BOUNDS.url)
    .nullish()
    .catch(null),
  rel: listOf(z.string().max(100), 10),
  height: optionalCount,
  width: optionalCount,
  size: optionalCount,
  fps: optionalNumber,
  tag: z.unknown().optional(),
  attachment: listOf(z.object({ name: z.string().max(100), value: z.unknown().optional() }), 20),
})

type Link = ReturnType<typeof normal>
const normal = (found: z.infer<typeof link>) => ({
  ...found,
  mediaType: (found.mediaType ?? found.mimeType ?? '').toLowerCase(),
  href: found.href ?? found.url ?? '',
})

/** Groups the links of a video by kind. */
export function readLinks(value: unknown): VideoLinks {
  // A lone address is the page.
  const found = asList(value).map((one) => (typeof one === 'string' ? { mediaType: 'text/html', href: one } : one))
  const all = linksOf(found)
  return {
    page: all.find((one) => one.mediaType === 'text/html' && isHttpUrl(one.href))?.href ?? null,
    files: filesOf(all),
    playlists: all.filter((one) => HLS_TYPES.has(one.mediaType) && isHttpUrl(one.href)).map(playlistOf),
    trackers: all.flatMap(trackerOf),
  }
}

const linksOf = (value: unknown): Link[] => listOf(link, BOUNDS.links).parse(value).map(normal)

function filesOf(links: Link[]): VideoFileDocument[] {
  const files = links.filter(isFile)
  return files.map((file) => {
    const isOfFile = (one: Link) => one.height === file.height && (one.fps ?? -1) === (file.fps ?? -1)
    const beside = (mediaType: string) => links.find((one) => one.mediaType === mediaType && isOfFile(one))?.href
    const metadata = links.find((one) => one.rel.includes('metadata') && isOfFile(one))?.href
    const torrent = beside(TORRENT)
    const magnet = beside(MAGNET)
    const values = (name: string) => file.attachment.filter((one) => one.name === name).map((one) => one.value)
    const streams = values('ffprobe_codec_type')
    const isVideo = file.mediaType.startsWith('video/')
    return {
      url: file.href,
      mediaType: file.mediaType,
      height: file.height ?? 0,
      width: file.width,
      sizeBytes: file.size ?? 0,
      fps: file.fps ?? -1,
      // Versions before 6.2 do not tell; then a video has both.
      hasAudio: streams.length === 0 || streams.includes('audio'),
      hasVideo: streams.length === 0 ? isVideo && file.height !== 0 : streams.includes('video'),
      formats: values('peertube_format_flag').filter((flag) => flag === 'web-video' || flag === 'fragmented'),
      metadataUrl: isHttpUrl(metadata) ? metadata : null,
      torrentUrl: isHttpUrl(torrent) ? torrent : null,
      magnetUri: magnet?.startsWith('magnet:?') ? magnet : null,
    }
  })
}

const isFile = (one: Link): boolean =>
  /^(video|audio)\/[\w.+-]{1,40}$/.test(one.mediaType) && one.height !== null && !one.rel.includes('metadata') && isHttpUrl(one.href)

function playlistOf(playlist: Link): HlsDocument {
  const tags = linksOf(playlist.tag)
  const segments = tags.find((one) => one.name === 'sha256')?.href
  return {
    url: playlist.href,
    infohashes: tags.flatMap(({ type, name }) => (type === 'Infohash' && name && INFOHASH.test(name) ? [name] : [])),
    segmentsSha256Url: isHttpUrl(segments) ? segments : null,
    files: filesOf(tags),
  }
}

function trackerOf(one: Link): TrackerDocument[] {
  if (!one.rel.includes('tracker')) return []
  const kind = one.rel.includes('websocket') ? 'websocket' : 'http'
  const isRight = kind === 'http' ? isHttpUrl(one.href) : /^wss?:$/.test(URL.parse(one.href)?.protocol ?? '')
  return isRight && one.href.length <= BOUNDS.url ? [{ name: one.name ?? `tracker-${kind}`, kind, url: one.href }] : []
}

/** The links in the order of the reference: page, files highest first, playlists, trackers. */
export function buildLinks(input: VideoLinks): JsonObject[] {
  return [
    ...(input.page === null ? [] : [{ type: 'Link', mediaType: 'text/html', href: input.page }]),
    ...input.files.flatMap(buildFile),
    ...input.playlists.map(buildPlaylist),
    ...input.trackers.map(({ name, kind, url }) => ({ type: 'Link', name, rel: ['tracker', kind], href: url })),
  ]
}

function buildFile(file: VideoFileDocument): JsonObject[] {
  const property = (name: string, value: string) => ({ type: 'PropertyValue', name, value })
  const size = { height: file.height, ...(file.width === null ? {} : { width: file.width }) }
  const beside = { ...size, fps: file.fps }
  return [
    {
      type: 'Link',
      mediaType: file.mediaType,
      href: file.url,
      ...size,
      size: file.sizeBytes,
      fps: file.fps,
      attachment: [
        ...(file.hasAudio ? [property('ffprobe_codec_type', 'audio')] : []),
        ...(file.hasVideo ? [property('ffprobe_codec_type', 'video')] : []),
        ...file.formats.map((format) => property('peertube_format_flag', format)),
      ],
    },
    ...(file.metadataUrl === null
      ? []
      : [
          {
            type: 'Link',
            rel: ['metadata', file.mediaType],
            mediaType: 'application/json',
            href: file.metadataUrl,
            ...beside,
          },
        ]),
    ...(file.torrentUrl === null ? [] : [{ type: 'Link', mediaType: TORRENT, href: file.torrentUrl, ...beside }]),
    ...(file.magnetUri === null ? [] : [{ type: 'Link', mediaType: MAGNET, href: file.magnetUri, ...beside }]),
  ]
}

function buildPlaylist(playlist: HlsDocument): JsonObject {
  const { url, infohashes, segmentsSha256Url, files } = playlist
  const sums = { type: 'Link', name: 'sha256', mediaType: 'application/json', href: segmentsSha256Url }
  return {
    type: 'Link',
    mediaType: HLS,
    href: url,
    tag: [
      ...infohashes.map((name) => ({ type: 'Infohash', name })),
      ...(segmentsSha256Url === null ? [] : [sums]),
      ...files.flatMap(buildFile),
    ],
  }
}
