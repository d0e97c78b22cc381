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
    url: p.string(),
    name: p.string(),
    category: p.smallint().nullable(),
    licence: p.smallint().nullable(),
    language: p.string().nullable(),
    privacy: p.smallint(),
    /** By the instance: hidden from all but its owner and the staff. */
    blocked: p.boolean(),
    nsfw: p.boolean(),
    description: p.string().nullable(),
    support: p.string().nullable(),
    /** Seconds. */
    duration: p.integer(),
    state: p.string(),
    context: p.json<Record<string, unknown>>(),
    dueAt: p.datetime().nullable(),
    waitTranscoding: p.boolean(),
    commentsPolicy: p.smallint(),
    downloadEnabled: p.boolean(),
    isLive: p.boolean(),
    aspectRatio: p.float().nullable(),
    tags: p.type(TextArray),
    originallyPublishedAt: p.datetime().nullable(),
    publishedAt: p.datetime(),
    refreshedAt: p.datetime().nullable(),
    /** When its file was replaced last. */
    inputFileUpdatedAt: p.datetime().nullable(),
    createdAt: p.datetime(),
    updatedAt: p.datetime(),
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
    filename: p.string(),
    width: p.integer().nullable(),
    height: p.integer().nullable(),
    /** Where the origin serves it; null for ours. */
    fileUrl: p.string().nullable(),
    onDisk: p.boolean(),
    automaticallyGenerated: p.boolean(),
    createdAt: p.datetime(),
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
    inputFilename: p.string(),
    /** Its name in the store `original_video_files`, as long as it is kept. */
    keptFilename: p.string().nullable(),
    size: p.bigint('number'),
    resolution: p.integer().nullable(),
    width: p.integer().nullable(),
    height: p.integer().nullable(),
    fps: p.integer().nullable(),
    metadata: p.json<Record<string, unknown>>().nullable(),
    createdAt: p.datetime(),
  },
})

export class VideoSource extends VideoSourceSchema.class {}
VideoSourceSchema.setClass(VideoSource)

/** `VideoPrivacy` of the contract. */
export const videoPrivacies = { public: 1, unlisted: 2, private: 3, internal: 4, passwordProtected: 5 } as const
