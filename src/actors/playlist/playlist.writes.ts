// Writes of playlists in the transactions of other nouns.

import type { Unit } from '../runtime/index.ts'
import { Playlist, playlistPrivacies, playlistTypes } from './playlist.entity.ts'

/** The playlist “Watch later”, which every account has. */
export const createWatchLater = ({ em, now }: Unit, of: Pick<Playlist, 'accountId' | 'uuid' | 'url'>): Playlist =>
  em.create(Playlist, {
    ...of,
    name: 'Watch later',
    type: playlistTypes.watchLater,
    privacy: playlistPrivacies.private,
    createdAt: now,
    updatedAt: now,
  })
