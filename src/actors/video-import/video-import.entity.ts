// The import of a video; its lifecycle is the machine `video-import`. The torrent file is accessed in SQL only.

import { defineEntity, p } from '@mikro-orm/postgresql'
import type { NamedPicture } from '../video/index.ts'
import type { ImportFields } from './import-fields.ts'

const VideoImportSchema = defineEntity({
  name: 'VideoImport',
  tableName: 'video_import',
  properties: {
    id: p.integer().primary(),
    userId: p.integer(),
    /** The initial channel; null if it is removed. */
    channelId: p.integer().nullable(),
    /** Null if it failed, or is removed. */
    videoId: p.integer().nullable(),
    /** The requesting synchronisation. */
    channelSyncId: p.integer().nullable(),
    /** One of the three is the source. */
    targetUrl: p.text().nullable(),
    magnetUri: p.text().nullable(),
    torrentName: p.text().nullable(),
    /** The user's fields of the video; with the pictures, after a failure. */
    fields: p.json<ImportFields & { pictures?: NamedPicture[] }>(),
    state: p.text(),
    context: p.json<Record<string, unknown>>(),
    dueAt: p.datetime(3).nullable(),
    /** The worker that holds the lease; `dueAt` is its end. */
    leaseOwner: p.text().nullable(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
    // Accessed in SQL only:
    torrent: p.blob().nullable().lazy(),
  },
})

export class VideoImport extends VideoImportSchema.class {}
VideoImportSchema.setClass(VideoImport)
