// A playlist of an account, ours or of another server, and its elements.

import { defineEntity, p } from '@mikro-orm/postgresql'

/** `VideoPlaylistPrivacy` of the contract. */
export const playlistPrivacies = { public: 1, unlisted: 2, private: 3 } as const

/** `VideoPlaylistType` of the contract. Every user has one playlist of videos to watch later, which nobody else sees. */
export const playlistTypes = { regular: 1, watchLater: 2 } as const

const PlaylistSchema = defineEntity({
  name: 'Playlist',
  tableName: 'playlist',
  properties: {
    id: p.integer().primary(),
    uuid: p.uuid(),
    accountId: p.integer(),
    /** Public and unlisted playlists have one. */
    channelId: p.integer().nullable(),
    remote: p.boolean().default(false),
    url: p.text(),
    name: p.text(),
    description: p.text().nullable(),
    type: p.smallint(),
    privacy: p.smallint(),
    /** A picture that was given; without one the first video's is shown. */
    thumbnailFilename: p.text().nullable(),
    /** Where another server has it. */
    thumbnailUrl: p.text().nullable(),
    elementsCount: p.integer().default(0),
    /** When a remote playlist was last read with its elements. */
    refreshedAt: p.datetime(3).nullable(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
    // Read and written in SQL alone:
    refreshAskedAt: p.datetime(3).nullable().lazy(),
    urlHash: p.uuid().nullable().generated('((md5(url))::uuid) stored').lazy(),
  },
})

export class Playlist extends PlaylistSchema.class {}
PlaylistSchema.setClass(Playlist)

const PlaylistElementSchema = defineEntity({
  name: 'PlaylistElement',
  tableName: 'playlist_element',
  properties: {
    id: p.integer().primary(),
    playlistId: p.integer(),
    /** Null once the video is gone. */
    videoId: p.integer().nullable(),
    /** Of elements of other servers. */
    url: p.text().nullable(),
    position: p.integer(),
    /** Seconds. */
    startTimestamp: p.integer().nullable(),
    stopTimestamp: p.integer().nullable(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
    // Read and written in SQL alone:
    urlHash: p.uuid().nullable().generated('((md5(url))::uuid) stored').lazy(),
  },
})

export class PlaylistElement extends PlaylistElementSchema.class {}
PlaylistElementSchema.setClass(PlaylistElement)

export const PlaylistTotal = defineEntity({
  name: 'PlaylistTotal',
  tableName: 'playlist_total',
  properties: {
    type: p.smallint().primary(),
    total: p.integer(),
  },
})

export const PlaylistTotalDelta = defineEntity({
  name: 'PlaylistTotalDelta',
  tableName: 'playlist_total_delta',
  properties: {
    id: p.bigint('number').primary(),
    type: p.smallint(),
    delta: p.integer(),
  },
})
