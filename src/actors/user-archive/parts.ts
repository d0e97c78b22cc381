// The JSON documents of a user's archive (the contract's `*ExportJSON` models), for writing and reading. Reading is lenient where archives
// differ between versions: some fields are optional, and unknown ones are dropped.

import { z } from 'zod'

const date = z.iso.datetime()
const nullableText = z.string().nullish()

/** More than an item of a real archive has of anything. */
const MOST = 20_000
const listOf = <T extends z.ZodType>(item: T) => z.array(item).max(MOST)

/** A file of the archive, relative to the JSON document that names it, such as `../files/account/avatars/a.png`. */
const archiveFile = z.string().max(1000).nullish()

const actorImage = z.object({
  /** px. */
  width: z.int().nullish(),
  url: z.string().nullish(),
  createdAt: date,
  updatedAt: date,
})

const account = z.object({
  url: z.string(),
  name: z.string(),
  avatars: listOf(actorImage).default([]),
  banners: listOf(actorImage).default([]),
  displayName: z.string(),
  description: nullableText,
  updatedAt: date,
  createdAt: date,
  archiveFiles: z.object({ avatar: archiveFile, banner: archiveFile }),
})

const channel = account.extend({ support: nullableText })

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

const video = z.object({
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

const playlist = z.object({
  displayName: z.string(),
  description: nullableText,
  privacy: z.int(),
  url: z.string(),
  uuid: z.string(),
  /** 1 created by the user, 2 `Watch later`. */
  type: z.int(),
  channel: z.object({ name: z.string().nullish() }).nullish(),
  createdAt: date,
  updatedAt: date,
  thumbnailUrl: nullableText,
  elements: listOf(
    z.object({
      videoUrl: z.string(),
      /** Seconds. */
      startTimestamp: z.number().nullish(),
      stopTimestamp: z.number().nullish(),
    }),
  ).default([]),
  archiveFiles: z.object({ thumbnail: archiveFile }),
})

const rating = z.object({ videoUrl: z.string(), createdAt: date })
const followed = z.object({ handle: z.string(), targetHandle: z.string(), createdAt: date })

const comment = z.object({
  url: z.string(),
  text: z.string(),
  createdAt: date,
  videoUrl: z.string(),
  inReplyToCommentUrl: nullableText,
})

const userSettings = z.object({
  email: z.string(),
  emailPublic: z.boolean().nullish(),
  nsfwPolicy: z.string().nullish(),
  autoPlayVideo: z.boolean().nullish(),
  autoPlayNextVideo: z.boolean().nullish(),
  autoPlayNextVideoPlaylist: z.boolean().nullish(),
  p2pEnabled: z.boolean().nullish(),
  videosHistoryEnabled: z.boolean().nullish(),
  videoLanguages: listOf(z.string()).nullish(),
  theme: nullableText,
  createdAt: date,
  /** By the names of the REST API's notification settings. */
  notificationSettings: z.record(z.string(), z.number()).nullish(),
})

const watched = z.object({
  videoUrl: z.string(),
  /** Seconds. */
  lastTimecode: z.number(),
  createdAt: date,
  updatedAt: date,
})

const wordList = z.object({
  listName: z.string(),
  words: listOf(z.string()),
  createdAt: date.nullish(),
  updatedAt: date.nullish(),
})

/**
 * Each document below `peertube/` by file name, with the key of its list if it contains one. Items of a list are validated one by one, so
 * that a bad item does not affect the others.
 */
export const archiveParts = {
  account: { item: account, list: null },
  'automatic-tag-policies': { item: z.object({ name: z.string() }), list: 'reviewComments' },
  blocklist: {
    item: z.object({
      instances: listOf(z.object({ host: z.string() })).default([]),
      actors: listOf(z.object({ handle: z.string() })).default([]),
    }),
    list: null,
  },
  channels: { item: channel, list: 'channels' },
  comments: { item: comment, list: 'comments' },
  dislikes: { item: rating, list: 'dislikes' },
  follower: { item: followed, list: 'followers' },
  following: { item: followed, list: 'following' },
  likes: { item: rating, list: 'likes' },
  'user-settings': { item: userSettings, list: null },
  'video-history': { item: watched, list: 'watchedVideos' },
  'video-playlists': { item: playlist, list: 'videoPlaylists' },
  videos: { item: video, list: 'videos' },
  'watched-words-lists': { item: wordList, list: 'watchedWordLists' },
} as const

export type ArchivePart = keyof typeof archiveParts

/** The written object of a part, or an item of its list. */
export type PartItem<P extends ArchivePart> = z.input<(typeof archiveParts)[P]['item']>
/** The parsed one. */
export type ReadPartItem<P extends ArchivePart> = z.output<(typeof archiveParts)[P]['item']>

/** The path of a part's document in the archive. */
export const partPath = (part: ArchivePart): string => `peertube/${part}.json`
