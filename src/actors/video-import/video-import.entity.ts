// The import of a video; its lifecycle is the machine `video-import`. The torrent file is read and written by SQL alone.

import { defineEntity, p } from '@mikro-orm/postgresql'
import type { NamedPicture } from '../video/index.ts'
import type { ImportFields } from './import-fields.ts'

const VideoImportSchema = defineEntity({
  name: 'VideoImport',
  tableName: 'video_import',
  properties: {
    id: p.integer().primary(),
    userId: p.integer(),
    /** Where it came to first; null when the channel is gone. */
    channelId: p.integer().nullable(),
    /** Null when it came to nothing, or is gone. */
    videoId: p.integer().nullable(),
    /** The synchronisation that asked for it. */
    channelSyncId: p.integer().nullable(),
    /** One of the three is what is imported. */
    targetUrl: p.text().nullable(),
    magnetUri: p.text().nullable(),
    torrentName: p.text().nullable(),
    /** What its user said of the video; with the pictures, once it failed. */
    fields: p.json<ImportFields & { pictures?: NamedPicture[] }>(),
    state: p.text(),
    context: p.json<Record<string, unknown>>(),
    dueAt: p.datetime(3).nullable(),
    /** The worker that is at it; `dueAt` is the end of its lease. */
    leaseOwner: p.text().nullable(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
    // Read and written in SQL alone:
    torrent: p.blob().nullable().lazy(),
  },
})

export class VideoImport extends VideoImportSchema.class {}
VideoImportSchema.setClass(VideoImport)
