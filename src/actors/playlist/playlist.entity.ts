// A playlist of a local or remote account, and its elements.

import { defineEntity, p } from '@mikro-orm/postgresql'

/** `VideoPlaylistPrivacy` of the contract. */
export const playlistPrivacies = { public: 1, unlisted: 2, private: 3 } as const

/** `VideoPlaylistType` of the contract. Every user has one private playlist “Watch later”. */
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
    /** An uploaded picture; without one, that of the first video is shown. */
    thumbnailFilename: p.text().nullable(),
    /** Its address on another server. */
    thumbnailUrl: p.text().nullable(),
    elementsCount: p.integer().default(0),
    /** When a remote playlist was last read with its elements. */
    refreshedAt: p.datetime(3).nullable(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
    // Accessed in SQL only:
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
    /** Null if the video is removed. */
    videoId: p.integer().nullable(),
    /** Of remote elements. */
    url: p.text().nullable(),
    position: p.integer(),
    /** Seconds. */
    startTimestamp: p.integer().nullable(),
    stopTimestamp: p.integer().nullable(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
    // Accessed in SQL only:
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
