// Remote videos: maps documents to rows. Unknown channels and accounts are fetched.

import { tidyChapters } from '../../actors/chapter/index.ts'
import { DomainError } from '../../actors/runtime/index.ts'
import type { RemoteFile, RemoteVideo, RemoteVideos } from '../../actors/video/index.ts'
import { videoStateOf } from '../../actors/video/index.ts'
import type { FederationDeps } from '../deps.ts'
import { isSameOrigin } from '../security/index.ts'
import {
  AS_PUBLIC,
  type ChapterDocument,
  type JsonObject,
  type LabelledDocument,
  readVideo,
  type VideoDocument,
  type VideoFileDocument,
} from '../wire/index.ts'
import type { FetchDocument } from './documents.ts'
import type { Owners, ResolveOwners } from './owners.ts'

export type VideoFetcher = ReturnType<typeof makeVideoFetcher>

interface SaveOptions {
  askedAt?: Date
  ofMany?: boolean
  owners?: Owners
}

export function makeVideoFetcher(
  deps: FederationDeps & { fetchDocument: FetchDocument; resolveOwners: ResolveOwners; remoteVideos: RemoteVideos },
) {
  const { clock, fetchDocument, resolveOwners, remoteVideos, blocked } = deps

  /**
   * Stores a trusted document. `askedAt`: time of the fetch; `ofMany`: part of a history, so that ratings can wait; `owners`, if known.
   * Throws DomainError.
   */
  async function save(
    document: JsonObject,
    { askedAt, ofMany = false, owners }: SaveOptions = {},
  ): Promise<{ id: number; isNew: boolean }> {
    const read = readVideo(document)
    if (!read.ok) throw new DomainError('unprocessable', `This video cannot be read: ${read.problem}`)
    const video = read.value
    const { channel } = owners ?? (await resolveOwners(video))
    const saved = await remoteVideos.save(toRemoteVideo(video, channel.channelId), { askedAt })
    // A video that was just published has no ratings yet.
    const isFresh = clock.now().getTime() - video.publishedAt.getTime() < FRESH_MS
    if (!(saved.isNew && isFresh)) await remoteVideos.wantRates(saved.id, { byAndBy: ofMany })
    return saved
  }

  return {
    save,
    /** The row of a video, fetched if it is unknown or was last read before `notBefore`. Throws DomainError. */
    async resolve(url: string, { notBefore, ofMany = false }: { notBefore?: Date; ofMany?: boolean } = {}) {
      if (await blocked.host(url)) throw new DomainError('forbidden', `${url} is of a blocked server.`)
      const known = await remoteVideos.find(url)
      const isRecent = notBefore === undefined || (known?.refreshedAt ?? new Date(0)) >= notBefore
      if (known && isRecent) return { id: known.id, isNew: false }
      const fetched = await fetchDocument(url)
      return await save(fetched.document, { askedAt: fetched.askedAt, ofMany })
    },
  }
}

/** Maps a document to the stored video. Throws DomainError `forbidden` unless the video is public or unlisted. */
function toRemoteVideo(video: VideoDocument, channelId: number): RemoteVideo {
  const [playlist] = video.playlists
  return {
    url: video.id,
    uuid: video.uuid,
    channelId,
    name: video.name,
    category: numberOf(video.category),
    licence: numberOf(video.licence) ?? SPDX_LICENCES[video.licence?.identifier ?? ''] ?? null,
    language: video.language?.identifier ?? null,
    privacy: privacyOf(video),
    nsfw: video.isSensitive,
    description: video.description,
    support: video.support,
    duration: bounded(Math.round(video.durationSeconds)),
    state: stateOf(video),
    waitTranscoding: video.waitTranscoding,
    commentsPolicy: video.commentsPolicy,
    downloadEnabled: video.downloadEnabled,
    aspectRatio: video.aspectRatio,
    views: bounded(video.views),
    tags: video.tags,
    publishedAt: video.publishedAt,
    originallyPublishedAt: video.originallyPublishedAt,
    updatedAt: video.updatedAt,
    trackerUrls: video.trackers.slice(0, MAX_TRACKERS).map(({ url }) => url),
    captions: captionsOf(video),
    storyboard: storyboardOf(video),
    live: video.live && { ...video.live, latencyMode: latencyModeOf(video.live.latencyMode) },
    chapters: chaptersOf(video),
    thumbnails: thumbnailsOf(video),
    files: video.files.map(toFile),
    playlist: playlist
      ? {
          playlistUrl: playlist.url,
          segmentsSha256Url: playlist.segmentsSha256Url,
          infoHashes: playlist.infohashes,
          files: playlist.files.map(toFile),
        }
      : null,
  }
}

const FRESH_MS = 60_000
const MAX_TRACKERS = 20
/** Becomes part of a local file name. */
const LANGUAGE = /^[a-zA-Z]{1,8}(?:-[a-zA-Z0-9]{1,8}){0,2}$/

/** The first of each language. */
function captionsOf({ captions }: VideoDocument): RemoteVideo['captions'] {
  const byLanguage = new Map<string, RemoteVideo['captions'][number]>()
  for (const { language, url, automaticallyGenerated } of captions) {
    if (!LANGUAGE.test(language) || byLanguage.has(language)) continue
    byLanguage.set(language, { language, fileUrl: url, automaticallyGenerated })
  }
  return [...byLanguage.values()]
}

function storyboardOf({ storyboard }: VideoDocument): RemoteVideo['storyboard'] {
  if (storyboard === null) return null
  const { url, width, height, tileWidth, tileHeight, tileDuration } = storyboard
  return {
    fileUrl: url,
    totalWidth: width,
    totalHeight: height,
    spriteWidth: tileWidth,
    spriteHeight: tileHeight,
    spriteDuration: bounded(tileDuration),
  }
}

/** A live that names no playlist cannot be watched yet, whatever it says. */
function stateOf({ state: id, live, playlists }: VideoDocument): string {
  const state = videoStateOf(id)
  return live && state === 'published' && playlists.length === 0 ? 'waiting-for-live' : state
}

const latencyModeOf = (mode: number): 1 | 2 | 3 => (mode === 2 || mode === 3 ? mode : 1)

/** Chapters on another server are not trusted. */
function chaptersOf({ id, chapters }: VideoDocument): RemoteVideo['chapters'] {
  if (typeof chapters === 'string') return isSameOrigin(chapters, id) ? { url: chapters } : []
  return toChapters(chapters ?? [])
}

/** Maps the chapters of a document. */
export const toChapters = (chapters: readonly ChapterDocument[]) =>
  tidyChapters(chapters.map(({ name, startOffset }) => ({ timecode: startOffset, title: name })))

const MAX_INTEGER = 2_147_483_647
const bounded = (number: number): number => Math.min(number, MAX_INTEGER)

function privacyOf({ id, to, cc }: VideoDocument): 1 | 2 {
  if (to.includes(AS_PUBLIC)) return 1
  // Servers of the reference give unlisted videos no recipients.
  if (cc.includes(AS_PUBLIC) || to.length + cc.length === 0) return 2
  throw new DomainError('forbidden', `${id} is not public.`)
}

function numberOf(label: LabelledDocument | null): number | null {
  const number = Number(label?.identifier ?? Number.NaN)
  return Number.isInteger(number) && number > 0 && number < 32_768 ? number : null
}

/** Newer versions name the licences of the contract by their SPDX identifiers. */
const SPDX_LICENCES: Readonly<Record<string, number>> = {
  'CC-BY-4.0': 1,
  'CC-BY-SA-4.0': 2,
  'CC-BY-ND-4.0': 3,
  'CC-BY-NC-4.0': 4,
  'CC-BY-NC-SA-4.0': 5,
  'CC-BY-NC-ND-4.0': 6,
  CC0: 7,
  'CC0-1.0': 7,
}

/** The smallest picture is the miniature, the largest the preview. */
function thumbnailsOf({ thumbnails }: VideoDocument): RemoteVideo['thumbnails'] {
  const bySize = thumbnails.toSorted((a, b) => (a.width ?? 0) - (b.width ?? 0))
  const [smallest] = bySize
  const largest = bySize.at(-1)
  if (!smallest || !largest) return []
  const as = (type: 1 | 2, image: typeof smallest) => ({
    type,
    fileUrl: image.url,
    width: image.width === null ? null : bounded(image.width),
    height: image.height === null ? null : bounded(image.height),
  })
  return [as(1, smallest), as(2, largest)]
}

const WEB_VIDEO = 1
const FRAGMENTED = 2
const VIDEO_STREAM = 1
const AUDIO_STREAM = 2

function toFile(file: VideoFileDocument): RemoteFile {
  return {
    // The shorter side, so that an upright video has the same resolution as a landscape one.
    resolution: bounded(Math.min(file.height, file.width ?? file.height)),
    width: file.width === null ? null : bounded(file.width),
    height: bounded(file.height),
    size: file.sizeBytes,
    fps: bounded(Math.max(-1, Math.round(file.fps))),
    extname: extensionOf(file),
    fileUrl: file.url,
    metadataUrl: file.metadataUrl,
    torrentUrl: file.torrentUrl,
    magnetUrl: file.magnetUri,
    infoHash: /xt=urn:btih:([0-9a-f]{40})/i.exec(file.magnetUri ?? '')?.[1]?.toLowerCase() ?? null,
    formatFlags: (file.formats.includes('web-video') ? WEB_VIDEO : 0) | (file.formats.includes('fragmented') ? FRAGMENTED : 0),
    streams: (file.hasVideo ? VIDEO_STREAM : 0) | (file.hasAudio ? AUDIO_STREAM : 0),
  }
}

const EXTENSIONS: Record<string, string> = {
  'video/mp4': '.mp4',
  'video/webm': '.webm',
  'video/ogg': '.ogv',
  'audio/mp4': '.m4a',
}

function extensionOf(file: VideoFileDocument): string {
  return EXTENSIONS[file.mediaType.split(';', 1)[0] ?? ''] ?? /\.[a-z0-9]{2,4}$/i.exec(new URL(file.url).pathname)?.[0] ?? '.mp4'
}
