// Fields of playlists and their elements.

import { z } from 'zod'
import { type PlaylistFields, playlistPrivacies } from '../../actors/playlist/index.ts'
import { coercedInteger, idOrUuidInJson, readable } from '../plugins/schemas.ts'

const LARGEST = 2_147_483_647

/** Forms express null by an empty text. */
const nothing = (sent: unknown): unknown => (sent === '' || sent === 'null' ? null : sent)

const name = readable(z.string().min(1).max(120), 'Should have a name that can be read')
const privacy = coercedInteger({ min: playlistPrivacies.public, max: playlistPrivacies.private })
const others = {
  description: z.preprocess(nothing, z.string().min(3).max(1000).nullish()),
  videoChannelId: z.preprocess(nothing, coercedInteger({ min: 1, max: LARGEST }).nullish()),
}

/** For a new playlist. */
export const newPlaylist = z.object({
  displayName: name,
  privacy: privacy.default(playlistPrivacies.private),
  ...others,
})

/** Omitted fields stay. */
export const playlistChanges = z.object({ displayName: name.optional(), privacy: privacy.optional(), ...others })

export const toNewPlaylist = (sent: z.output<typeof newPlaylist>): PlaylistFields => ({
  name: sent.displayName,
  privacy: sent.privacy,
  description: sent.description ?? null,
  channelId: sent.videoChannelId ?? null,
})

export const toPlaylistChanges = (sent: z.output<typeof playlistChanges>): Partial<PlaylistFields> => ({
  ...(sent.displayName === undefined ? {} : { name: sent.displayName }),
  ...(sent.privacy === undefined ? {} : { privacy: sent.privacy }),
  ...(sent.description === undefined ? {} : { description: sent.description }),
  ...(sent.videoChannelId === undefined ? {} : { channelId: sent.videoChannelId }),
})

const seconds = z.int().min(0).max(LARGEST).nullish()
const timestamps = { startTimestamp: seconds, stopTimestamp: seconds }

export const newElement = z.object({
  videoId: idOrUuidInJson('video'),
  ...timestamps,
})

export const elementChanges = z.object(timestamps)

const place = (min: number) => z.int().min(min).max(LARGEST)
export const reordering = z.object({
  startPosition: place(1),
  insertAfterPosition: place(0),
  reorderLength: place(1).optional(),
})
