// Videos of other servers: from a document to what we store. The channel and its account are fetched when unknown.

import type { StoredActor } from '../../actors/actor/index.ts'
import { DomainError } from '../../actors/runtime/index.ts'
import type { RemoteFile, RemoteVideo, RemoteVideos } from '../../actors/video/index.ts'
import { videoStateOf } from '../../actors/video/index.ts'
import type { FederationDeps } from '../deps.ts'
import { isSameOrigin } from '../security/index.ts'
import {
  AS_PUBLIC,
  type JsonObject,
  type LabelledDocument,
  readVideo,
  type VideoDocument,
  type VideoFileDocument,
} from '../wire/index.ts'
import type { ResolveActor } from './actors.ts'
import type { FetchDocument } from './documents.ts'

export interface VideoFetcher {
  /** The row of a video, fetched when it is not stored or was last read before that time. Throws DomainError. */
  resolve(url: string, options?: { notBefore?: Date }): Promise<{ id: number; isNew: boolean }>
  /** Stores a document that may be believed. */
  save(document: JsonObject): Promise<{ id: number; isNew: boolean }>
}

export function makeVideoFetcher(
  deps: FederationDeps & { fetchDocument: FetchDocument; resolveActor: ResolveActor; remoteVideos: RemoteVideos },
): VideoFetcher {
  const { db, config, fetchDocument, resolveActor, remoteVideos } = deps

  async function save(document: JsonObject): Promise<{ id: number; isNew: boolean }> {
    const read = readVideo(document)
    if (!read.ok) throw new DomainError('unprocessable', `This video cannot be read: ${read.problem}`)
    const video = read.value
    if (video.channel === null || !isSameOrigin(video.channel, video.id)) {
      throw new DomainError('forbidden', `${video.id} has no channel of its own server.`)
    }
    const channel = await resolveActor(video.channel)
    if (channel.channelId === null) throw new DomainError('unprocessable', `${video.channel} is no channel.`)
    if (video.account !== null && !(await isOwner(video.account, channel))) {
      throw new DomainError('forbidden', `${video.account} does not own ${video.channel}.`)
    }
    return await remoteVideos.save(toRemoteVideo(video, channel.channelId))
  }

  /** A channel may have got another owner since it was read. */
  async function isOwner(accountUrl: string, channel: StoredActor): Promise<boolean> {
    const { key_refetch_after } = config().vireo.federation.inbox
    return (
      (await ownerOf(channel)) === accountUrl ||
      (await ownerOf(await resolveActor(channel.url, { maxAgeMs: key_refetch_after }))) === accountUrl
    )
  }

  async function ownerOf({ channelId }: StoredActor): Promise<string | undefined> {
    const [owner] = await db.query<{ url: string }>(
      'select x.url from channel c join account a on a.id = c.account_id join actor x on x.id = a.actor_id where c.id = $1',
      [channelId],
    )
    return owner?.url
  }

  return {
    save,
    async resolve(url, { notBefore } = {}) {
      const known = await remoteVideos.find(url)
      const isRecent = notBefore === undefined || (known?.refreshedAt ?? new Date(0)) >= notBefore
      if (known && isRecent) return { id: known.id, isNew: false }
      return await save((await fetchDocument(url)).document)
    },
  }
}

/** What we store of a document. Throws DomainError `forbidden` for videos that are neither public nor unlisted. */
function toRemoteVideo(video: VideoDocument, channelId: number): RemoteVideo {
  const [playlist] = video.playlists
  return {
    url: video.id,
    uuid: video.uuid,
    channelId,
    name: video.name,
    category: numberOf(video.category),
    licence: numberOf(video.licence),
    language: video.language?.identifier ?? null,
    privacy: privacyOf(video),
    nsfw: video.isSensitive,
    description: video.description,
    support: video.support,
    duration: Math.round(video.durationSeconds),
    state: videoStateOf(video.state),
    waitTranscoding: video.waitTranscoding,
    commentsPolicy: video.commentsPolicy,
    downloadEnabled: video.downloadEnabled,
    isLive: video.live !== null,
    aspectRatio: video.aspectRatio,
    views: video.views,
    tags: video.tags,
    publishedAt: video.publishedAt,
    originallyPublishedAt: video.originallyPublishedAt,
    updatedAt: video.updatedAt,
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

function privacyOf({ id, to, cc }: VideoDocument): 1 | 2 {
  if (to.includes(AS_PUBLIC)) return 1
  // Servers of the reference address unlisted videos to nobody.
  if (cc.includes(AS_PUBLIC) || to.length + cc.length === 0) return 2
  throw new DomainError('forbidden', `${id} is not public.`)
}

function numberOf(label: LabelledDocument | null): number | null {
  const number = Number(label?.identifier ?? Number.NaN)
  return Number.isInteger(number) && number > 0 && number < 32_768 ? number : null
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
    width: image.width,
    height: image.height,
  })
  return [as(1, smallest), as(2, largest)]
}

const WEB_VIDEO = 1
const FRAGMENTED = 2
const VIDEO_STREAM = 1
const AUDIO_STREAM = 2

function toFile(file: VideoFileDocument): RemoteFile {
  return {
    // The smaller side, so that an upright video has the resolution of the same video lying.
    resolution: Math.min(file.height, file.width ?? file.height),
    width: file.width,
    height: file.height,
    size: file.sizeBytes,
    fps: Math.round(file.fps),
    extname: extensionOf(file),
    fileUrl: file.url,
    metadataUrl: file.metadataUrl,
    torrentUrl: file.torrentUrl,
    magnetUrl: file.magnetUri,
    infoHash: /xt=urn:btih:([0-9a-f]{40})/i.exec(file.magnetUri ?? '')?.[1]?.toLowerCase() ?? null,
    formatFlags:
      (file.formats.includes('web-video') ? WEB_VIDEO : 0) | (file.formats.includes('fragmented') ? FRAGMENTED : 0),
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
  return (
    EXTENSIONS[file.mediaType.split(';', 1)[0] ?? ''] ??
    /\.[a-z0-9]{2,4}$/i.exec(new URL(file.url).pathname)?.[0] ??
    '.mp4'
  )
}
