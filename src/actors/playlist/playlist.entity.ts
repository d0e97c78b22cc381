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
    url: p.string(),
    name: p.string(),
    description: p.string().nullable(),
    type: p.smallint(),
    privacy: p.smallint(),
    /** A picture that was given; without one the first video's is shown. */
    thumbnailFilename: p.string().nullable(),
    /** Where another server has it. */
    thumbnailUrl: p.string().nullable(),
    elementsCount: p.integer().default(0),
    /** When a remote playlist was last read with its elements. */
    refreshedAt: p.datetime().nullable(),
    createdAt: p.datetime(),
    updatedAt: p.datetime(),
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
    url: p.string().nullable(),
    position: p.integer(),
    /** Seconds. */
    startTimestamp: p.integer().nullable(),
    stopTimestamp: p.integer().nullable(),
    createdAt: p.datetime(),
    updatedAt: p.datetime(),
  },
})

export class PlaylistElement extends PlaylistElementSchema.class {}
PlaylistElementSchema.setClass(PlaylistElement)

/** The columns of a new account's playlist of videos to watch later. */
export const watchLaterOf = (of: { accountId: number; uuid: string; url: string; now: Date }) => ({
  accountId: of.accountId,
  uuid: of.uuid,
  url: of.url,
  name: 'Watch later',
  type: playlistTypes.watchLater,
  privacy: playlistPrivacies.private,
  createdAt: of.now,
  updatedAt: of.now,
})
