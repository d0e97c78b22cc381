// A video and the rows that belong to it. Its lifecycle is the machine `video`.

import { defineEntity, p } from '@mikro-orm/postgresql'
import { TextArray } from '../../platform/database/index.ts'

const VideoSchema = defineEntity({
  name: 'Video',
  tableName: 'video',
  properties: {
    id: p.integer().primary(),
    uuid: p.uuid(),
    channelId: p.integer(),
    remote: p.boolean(),
    url: p.text(),
    name: p.text(),
    category: p.smallint().nullable(),
    licence: p.smallint().nullable(),
    language: p.text().nullable(),
    privacy: p.smallint(),
    /** Blocked by the instance: hidden from all but its owner and the staff. */
    blocked: p.boolean(),
    nsfw: p.boolean(),
    description: p.text().nullable(),
    support: p.text().nullable(),
    /** Seconds. */
    duration: p.integer(),
    state: p.text(),
    context: p.json<Record<string, unknown>>(),
    dueAt: p.datetime(3).nullable(),
    waitTranscoding: p.boolean(),
    commentsPolicy: p.smallint(),
    downloadEnabled: p.boolean(),
    isLive: p.boolean(),
    aspectRatio: p.float().nullable(),
    tags: p.type(TextArray),
    originallyPublishedAt: p.datetime(3).nullable(),
    publishedAt: p.datetime(3),
    refreshedAt: p.datetime(3).nullable(),
    /** When its file was last replaced. */
    inputFileUpdatedAt: p.datetime(3).nullable(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
    // Accessed in SQL only:
    best: p.double().defaultRaw('0').lazy(),
    chaptersUrl: p.text().nullable().lazy(),
    chaptersWantedAt: p.datetime().nullable().lazy(),
    comments: p.integer().defaultRaw('0').lazy(),
    commentsReadAt: p.datetime(3).nullable().lazy(),
    dislikes: p.integer().defaultRaw('0').lazy(),
    filesSize: p.bigint('number').defaultRaw('0').lazy(),
    hasHls: p.boolean().defaultRaw('false').lazy(),
    hasWebVideos: p.boolean().defaultRaw('false').lazy(),
    hot: p.double().defaultRaw('(EXTRACT(epoch FROM now()) / (43200)::numeric)').lazy(),
    likes: p.integer().defaultRaw('0').lazy(),
    /** Local, or of an actor that the instance follows. */
    listed: p.boolean().defaultRaw('true').lazy(),
    refreshTriedAt: p.datetime(3).nullable().lazy(),
    subscribersTold: p.boolean().defaultRaw('false').lazy(),
    trackerUrls: p.type(TextArray).defaultRaw("'{}'").lazy(),
    trending: p.integer().defaultRaw('0').lazy(),
    urlHash: p.uuid().nullable().generated('((md5(url))::uuid) stored').lazy(),
    views: p.integer().defaultRaw('0').lazy(),
    words: p.text().columnType('tsvector').nullable().lazy(),
  },
})

export class Video extends VideoSchema.class {}
VideoSchema.setClass(Video)

const ThumbnailSchema = defineEntity({
  name: 'Thumbnail',
  tableName: 'thumbnail',
  properties: {
    id: p.integer().primary(),
    videoId: p.integer(),
    type: p.smallint().$type<ThumbnailType>(),
    filename: p.text(),
    width: p.integer().nullable(),
    height: p.integer().nullable(),
    /** Its address on the origin; null for local videos. */
    fileUrl: p.text().nullable(),
    onDisk: p.boolean(),
    automaticallyGenerated: p.boolean(),
    createdAt: p.datetime(3),
  },
})

export class Thumbnail extends ThumbnailSchema.class {}
ThumbnailSchema.setClass(Thumbnail)

/** `ThumbnailType` of the contract. */
export const thumbnailTypes = { miniature: 1, preview: 2 } as const
export type ThumbnailType = (typeof thumbnailTypes)[keyof typeof thumbnailTypes]

const VideoSourceSchema = defineEntity({
  name: 'VideoSource',
  tableName: 'video_source',
  properties: {
    videoId: p.integer().primary(),
    /** The name that the file had on the uploader's machine. */
    inputFilename: p.text(),
    /** Its name in the store `original_video_files`, as long as it is retained. */
    keptFilename: p.text().nullable(),
    size: p.bigint('number'),
    resolution: p.integer().nullable(),
    width: p.integer().nullable(),
    height: p.integer().nullable(),
    fps: p.integer().nullable(),
    metadata: p.json<Record<string, unknown>>().nullable(),
    createdAt: p.datetime(3),
  },
})

export class VideoSource extends VideoSourceSchema.class {}
VideoSourceSchema.setClass(VideoSource)

/** `VideoPrivacy` of the contract. */
export const videoPrivacies = { public: 1, unlisted: 2, private: 3, internal: 4, passwordProtected: 5 } as const

/** SQL: privacies of videos that are federated. */
export const FEDERATED_PRIVACIES = `(${videoPrivacies.public}, ${videoPrivacies.unlisted})`

const federatedStates: readonly string[] = ['published', 'waiting-for-live', 'live-ended']

/** True if videos in this state are federated: a live is announced before its stream, and stays known when that has ended. */
export const isFederatedState = (state: string): boolean => federatedStates.includes(state)

/** SQL: the same. */
export const FEDERATED_STATES = `(${federatedStates.map((state) => `'${state}'`).join(', ')})`

const listed: readonly number[] = [videoPrivacies.public, videoPrivacies.internal]

/** True if lists show videos of this privacy; internal ones only to local users. */
export const isListedPrivacy = (privacy: number): boolean => listed.includes(privacy)

/** SQL: the same, as the indexes of the table spell it. */
export const LISTED_PRIVACIES = `(${listed.join(', ')})`

/** SQL: privacies of videos that every local user may watch. */
export const SHARED_PRIVACIES = `(${videoPrivacies.public}, ${videoPrivacies.unlisted}, ${videoPrivacies.internal})`

/** SQL: true if everybody can find the video. */
export const isPublic = (video: string): string =>
  `${video}.privacy = ${videoPrivacies.public} and ${video}.state = 'published' and not ${video}.blocked`

export const VideoDelta = defineEntity({
  name: 'VideoDelta',
  tableName: 'video_delta',
  properties: {
    id: p.bigint('number').primary(),
    videoId: p.integer(),
    likes: p.integer(),
    dislikes: p.integer(),
    comments: p.integer(),
    views: p.integer(),
  },
})

/** A tag in lower case of a video that lists show. Written by triggers. */
export const VideoTag = defineEntity({
  name: 'VideoTag',
  tableName: 'video_tag',
  properties: {
    id: p.integer().primary(),
    tag: p.text().primary(),
    publishedAt: p.datetime(3),
    privacy: p.smallint(),
    nsfw: p.boolean(),
    channelId: p.integer(),
  },
})

export const VideoDayViews = defineEntity({
  name: 'VideoDayViews',
  tableName: 'video_day_views',
  properties: {
    videoId: p.integer().primary(),
    day: p.date().primary(),
    views: p.integer(),
  },
})

export const VideoTotal = defineEntity({
  name: 'VideoTotal',
  tableName: 'video_total',
  properties: {
    local: p.boolean().primary(),
    nsfw: p.boolean().primary(),
    total: p.integer(),
  },
})

export const VideoTotalDelta = defineEntity({
  name: 'VideoTotalDelta',
  tableName: 'video_total_delta',
  properties: {
    id: p.bigint('number').primary(),
    local: p.boolean(),
    nsfw: p.boolean(),
    delta: p.integer(),
  },
})

export const VideoCount = defineEntity({
  name: 'VideoCount',
  tableName: 'video_count',
  properties: {
    local: p.boolean().primary(),
    nsfw: p.boolean().primary(),
    privacy: p.smallint().primary(),
    published: p.boolean().primary(),
    blocked: p.boolean().primary(),
    listed: p.boolean().primary(),
    total: p.integer(),
  },
})

export const VideoCountDelta = defineEntity({
  name: 'VideoCountDelta',
  tableName: 'video_count_delta',
  properties: {
    id: p.bigint('number').primary(),
    local: p.boolean(),
    nsfw: p.boolean(),
    privacy: p.smallint(),
    published: p.boolean(),
    blocked: p.boolean(),
    listed: p.boolean(),
    delta: p.integer(),
  },
})

export const VideoPassword = defineEntity({
  name: 'VideoPassword',
  tableName: 'video_password',
  properties: {
    id: p.integer().primary(),
    videoId: p.integer(),
    password: p.text(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
  },
})

export const VideoSchedule = defineEntity({
  name: 'VideoSchedule',
  tableName: 'video_schedule',
  properties: {
    videoId: p.integer().primary(),
    updateAt: p.datetime(3),
    privacy: p.smallint().nullable(),
  },
})
