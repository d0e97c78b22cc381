// A video in the document of an archive, made from the stored one, and mapped to the fields of an upload. Pure.

import { z } from 'zod'
import { isReadable } from '../../../platform/readable.ts'
import { DomainError, type LocalUrls } from '../../runtime/index.ts'
import {
  categoryLabels,
  fileStorages,
  hasPrivateFiles,
  labelledState,
  languageLabels,
  licenceLabels,
  type NewVideoFields,
  videoPrivacies,
} from '../../video/index.ts'
import type { ArchivedVideo } from '../archive-documents.ts'
import type { Export } from '../export.ts'
import { fitting, labelOrNull, name, readItem, textOrNull } from '../import-fields.ts'
import { archiveFile, date, listOf, nullableText } from '../part.ts'
import { iso } from '../rows.ts'
import type { VideoFileRow, VideoRow } from './stored-videos.ts'

const videoFile = z.object({
  resolution: z.number(),
  /** Bytes. */
  size: z.number(),
  fps: z.number().nullish(),
  torrentUrl: nullableText,
  fileUrl: nullableText,
})

const caption = z.object({
  createdAt: date.nullish(),
  updatedAt: date.nullish(),
  language: z.string(),
  filename: nullableText,
  automaticallyGenerated: z.boolean().default(false),
  fileUrl: nullableText,
})

const live = z.object({
  saveReplay: z.boolean(),
  permanentLive: z.boolean(),
  latencyMode: z.int(),
  streamKey: nullableText,
  replaySettings: z.object({ privacy: z.int() }).nullish(),
})

export const videoItem = z.object({
  uuid: z.string(),
  createdAt: date,
  updatedAt: date,
  publishedAt: date.nullish(),
  originallyPublishedAt: date.nullish(),
  name: z.string(),
  category: z.int().nullish(),
  licence: z.int().nullish(),
  language: nullableText,
  tags: listOf(z.string()).default([]),
  privacy: z.int(),
  passwords: listOf(z.string()).default([]),
  /** Seconds. */
  duration: z.number(),
  description: nullableText,
  support: nullableText,
  isLive: z.boolean().default(false),
  live: live.nullish(),
  url: z.string(),
  thumbnailUrl: nullableText,
  previewUrl: nullableText,
  views: z.int().default(0),
  likes: z.int().default(0),
  dislikes: z.int().default(0),
  nsfw: z.boolean(),
  commentsPolicy: z.int().nullish(),
  /** Replaces `commentsPolicy` in older archives. */
  commentsEnabled: z.boolean().nullish(),
  downloadEnabled: z.boolean().default(true),
  waitTranscoding: z.boolean().default(false),
  state: z.int(),
  channel: z.object({ name: z.string() }),
  captions: listOf(caption).default([]),
  /** `timecode` in seconds. */
  chapters: listOf(z.object({ timecode: z.number(), title: z.string() })).default([]),
  files: listOf(videoFile).default([]),
  streamingPlaylists: listOf(
    z.object({
      type: z.int(),
      playlistUrl: nullableText,
      segmentsSha256Url: nullableText,
      files: listOf(videoFile).default([]),
    }),
  ).default([]),
  source: z
    .object({
      inputFilename: nullableText,
      resolution: z.number().nullish(),
      size: z.number().nullish(),
      width: z.number().nullish(),
      height: z.number().nullish(),
      fps: z.number().nullish(),
      metadata: z.unknown().optional(),
    })
    .nullish(),
  archiveFiles: z.object({
    videoFile: archiveFile,
    thumbnail: archiveFile,
    /** By language. */
    captions: z.record(z.string(), z.string().max(1000)).default({}),
  }),
})

/** A video as it is written. */
export function toItem({ urls }: Pick<Export, 'urls'>, row: VideoRow, files: ArchivedVideo): z.input<typeof videoItem> {
  const { originallyPublishedAt, live, source } = row
  const at = (path: string) => `${urls.origin}/lazy-static/${path}`
  const picture = (type: number, folder: string) => {
    const filename = row.pictures.find((one) => one.type === type)?.filename
    return filename === undefined ? null : at(`${folder}/${filename}`)
  }
  return {
    uuid: row.uuid,
    createdAt: iso(row.createdAt),
    updatedAt: iso(row.updatedAt),
    publishedAt: iso(row.publishedAt),
    ...(originallyPublishedAt === null ? {} : { originallyPublishedAt: iso(originallyPublishedAt) }),
    name: row.name,
    category: row.category,
    licence: row.licence,
    language: row.language,
    tags: row.tags,
    privacy: row.privacy,
    passwords: row.passwords,
    duration: row.duration,
    description: row.description,
    support: row.support,
    isLive: row.isLive,
    ...(live === null ? {} : { live }),
    url: row.url,
    thumbnailUrl: picture(1, 'thumbnails'),
    previewUrl: picture(2, 'previews'),
    views: row.views,
    likes: row.likes,
    dislikes: row.dislikes,
    nsfw: row.nsfw,
    commentsPolicy: row.commentsPolicy,
    commentsEnabled: row.commentsPolicy !== COMMENTS.disabled,
    downloadEnabled: row.downloadEnabled,
    waitTranscoding: row.waitTranscoding,
    state: labelledState(row.state).id ?? 0,
    channel: { name: row.channel },
    captions: row.captions.map(({ language, filename, automatic, createdAt, updatedAt }) => ({
      createdAt: iso(createdAt),
      updatedAt: iso(updatedAt),
      language,
      filename,
      automaticallyGenerated: automatic,
      fileUrl: at(`video-captions/${filename}`),
    })),
    chapters: row.chapters,
    ...addressesOf(urls, row),
    ...(source === null ? {} : { source: toSource(source) }),
    archiveFiles: { videoFile: files.videoFile?.path ?? null, thumbnail: files.thumbnail, captions: files.captions },
  }
}

const toSource = ({ keptFilename: _, ...source }: NonNullable<VideoRow['source']>) => source

type Urls = Pick<LocalUrls, 'origin' | 'objectAddress'>
type Video = Pick<VideoRow, 'uuid' | 'privacy' | 'blocked' | 'files' | 'playlist'>

const FOLDERS = { web_videos: 'web-videos', streaming_playlists: 'streaming-playlists' } as const

/** Addresses of its files on this server. */
function addressesOf(urls: Urls, video: Video): Required<Pick<z.input<typeof videoItem>, 'files' | 'streamingPlaylists'>> {
  const { playlist, files } = video
  const hidden = hasPrivateFiles(video) ? 'private/' : ''
  const addressOf = (kind: keyof typeof FOLDERS, name: string, storage: number): string => {
    const atBucket = storage === fileStorages.objectStorage ? urls.objectAddress({ kind, name }) : undefined
    return atBucket ?? `${urls.origin}/static/${FOLDERS[kind]}/${name}`
  }
  const inPlaylist = (filename: string, storage: number) =>
    addressOf('streaming_playlists', `hls/${hidden}${video.uuid}/${filename}`, storage)
  const describe = (file: VideoFileRow) => ({
    resolution: file.resolution,
    size: file.size,
    fps: file.fps,
    torrentUrl: file.torrent && `${urls.origin}/lazy-static/torrents/${file.torrent}`,
    fileUrl: file.hls ? inPlaylist(file.filename, file.storage) : addressOf('web_videos', `${hidden}${file.filename}`, file.storage),
  })
  return {
    files: files.filter(({ hls }) => !hls).map(describe),
    streamingPlaylists: playlist
      ? [
          {
            type: playlist.type,
            playlistUrl: playlist.filename && inPlaylist(playlist.filename, playlist.storage),
            segmentsSha256Url: playlist.hashes && inPlaylist(playlist.hashes, playlist.storage),
            files: files.filter(({ hls }) => hls).map(describe),
          },
        ]
      : [],
  }
}

const COMMENTS = { enabled: 1, disabled: 2 } as const

/** Categories, licences and languages may be unknown here. */
const fields = z.object({
  name: name(3, 120),
  privacy: z.literal(Object.values(videoPrivacies)),
  category: labelOrNull(categoryLabels, z.int()),
  licence: labelOrNull(licenceLabels, z.int()),
  language: labelOrNull(languageLabels, z.string()),
  nsfw: z.boolean(),
  description: textOrNull(3, 10_000),
  support: textOrNull(3, 1000),
  waitTranscoding: z.boolean(),
  downloadEnabled: z.boolean(),
  tags: fitting(z.string().trim().min(2).max(30).refine(isReadable), 5),
})
const passwords = fitting(z.string().min(2).max(99), 100)
const commentsPolicy = z.int().min(1).max(3)

/**
 * Without its original publication date it would seem as new as its import. Throws `invalid` for missing required fields, and for the
 * privacy by password without a password.
 */
export function videoFieldsOf(item: z.output<typeof videoItem>, channelId: number): NewVideoFields {
  const read = readItem(fields, item)
  const isProtected = read.privacy === videoPrivacies.passwordProtected
  const words = isProtected ? passwords.parse(item.passwords) : []
  if (isProtected && words.length === 0) throw new DomainError('invalid', 'Video passwords are missing.')
  const policy = commentsPolicy.safeParse(item.commentsPolicy)
  return {
    ...read,
    channelId,
    commentsPolicy: policy.data ?? (item.commentsEnabled === false ? COMMENTS.disabled : COMMENTS.enabled),
    originallyPublishedAt: item.originallyPublishedAt ?? item.publishedAt ?? null,
    passwords: words,
    schedule: null,
  }
}
