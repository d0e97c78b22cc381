// The files of a video, and pending ones.

import { defineEntity, p } from '@mikro-orm/postgresql'
import { TextArray } from '../../platform/database/index.ts'

export const VideoFile = defineEntity({
  name: 'VideoFile',
  tableName: 'video_file',
  properties: {
    id: p.integer().primary(),
    videoId: p.integer(),
    /** Null for a web video. */
    streamingPlaylistId: p.integer().nullable(),
    /** Short side in px, 0 for sound alone. */
    resolution: p.integer(),
    width: p.integer().nullable(),
    height: p.integer().nullable(),
    size: p.bigint('number'),
    extname: p.text(),
    fps: p.integer(),
    filename: p.text().nullable(),
    playlistFilename: p.text().nullable(),
    fileUrl: p.text().nullable(),
    metadata: p.json<object>().nullable(),
    metadataUrl: p.text().nullable(),
    torrentFilename: p.text().nullable(),
    torrentUrl: p.text().nullable(),
    magnetUrl: p.text().nullable(),
    infoHash: p.text().nullable(),
    /** Bits: 1 web video, 2 fragmented. */
    formatFlags: p.integer(),
    /** Bits: 1 video, 2 audio. */
    streams: p.integer(),
    hls: p.json<object>().nullable(),
    storage: p.smallint(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
    outdated: p.boolean(),
    provisional: p.boolean(),
  },
})

export const StreamingPlaylist = defineEntity({
  name: 'StreamingPlaylist',
  tableName: 'streaming_playlist',
  properties: {
    id: p.integer().primary(),
    videoId: p.integer(),
    type: p.smallint(),
    playlistFilename: p.text().nullable(),
    playlistUrl: p.text().nullable(),
    segmentsSha256Filename: p.text().nullable().fieldNames('segments_sha256_filename'),
    segmentsSha256Url: p.text().nullable().fieldNames('segments_sha256_url'),
    p2pMediaLoaderInfoHashes: p.type(TextArray),
    p2pMediaLoaderPeerVersion: p.integer(),
    storage: p.smallint(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
  },
})

export const PendingFile = defineEntity({
  name: 'PendingFile',
  tableName: 'pending_file',
  properties: {
    id: p.bigint('number').primary(),
    kind: p.text(),
    name: p.text(),
    folder: p.boolean(),
    owner: p.text(),
    createdAt: p.datetime(3),
  },
})

export const VideoComingFile = defineEntity({
  name: 'VideoComingFile',
  tableName: 'video_coming_file',
  properties: {
    id: p.integer().primary(),
    videoId: p.integer(),
    kind: p.text(),
    filename: p.text(),
    width: p.integer().nullable(),
    height: p.integer().nullable(),
    replaces: p.text().nullable(),
  },
})

export const VideoPlacement = defineEntity({
  name: 'VideoPlacement',
  tableName: 'video_placement',
  properties: {
    videoId: p.integer().primary(),
    owner: p.text(),
    leaseUntil: p.datetime(3),
  },
})

export const VideoRetiming = defineEntity({
  name: 'VideoRetiming',
  tableName: 'video_retiming',
  properties: {
    videoId: p.integer().primary(),
    fromAt: p.double(),
    toAt: p.double(),
    movedTo: p.double(),
  },
})
