// Who may see, change and remove a playlist. Pure: takes rows and the viewer, and throws a refusal or returns.

import { DomainError, notFound } from '../runtime/index.ts'
import type { Viewer } from '../session/index.ts'
import { hasRight, type UserRight } from '../user/index.ts'
import { playlistPrivacies, playlistTypes } from './playlist.entity.ts'

/** The properties that decide who may do what with a playlist. */
export interface GuardedPlaylist {
  privacy: number
  type: number
  remote: boolean
  accountId: number
}

/** True if everybody who has the link may read it: other servers are notified of it. */
export const isOpenPlaylist = (privacy: number): boolean => privacy !== playlistPrivacies.private

/** The same for one link. A link by id does not show unlisted playlists, since ids can be enumerated. */
export const isOpenPlaylistBy = (privacy: number, { byId }: { byId: boolean }): boolean =>
  isOpenPlaylist(privacy) && (!byId || privacy === playlistPrivacies.public)

/** Throws unless `viewer` may see the playlist. A link by id does not show unlisted playlists, since ids can be enumerated. */
export function assertMaySeePlaylist(playlist: GuardedPlaylist, viewer: Viewer, { byId = false }: { byId?: boolean } = {}): void {
  const { privacy, accountId } = playlist
  if (privacy === playlistPrivacies.public) return
  const isInsider = viewer !== null && (viewer.accountId === accountId || hasRight(viewer.role, 'UPDATE_ANY_VIDEO_PLAYLIST'))
  if (isInsider) return
  if (privacy === playlistPrivacies.unlisted) {
    if (byId) throw notFound('Playlist not found')
    return
  }
  if (viewer === null) throw new DomainError('unauthenticated', 'Token is invalid', { code: 'unauthorized_request' })
  throw new DomainError('forbidden', 'Cannot get this private video playlist.')
}

/** Throws `forbidden` unless `by` owns the playlist or has the right. Remote playlists can be changed only by their own server. */
export function assertMayManagePlaylist(
  playlist: GuardedPlaylist,
  by: NonNullable<Viewer>,
  right: Extract<UserRight, 'UPDATE_ANY_VIDEO_PLAYLIST' | 'REMOVE_ANY_VIDEO_PLAYLIST'>,
): void {
  if (playlist.remote) throw new DomainError('forbidden', 'Cannot manage a video playlist of another server')
  if (by.accountId !== playlist.accountId && !hasRight(by.role, right)) {
    throw new DomainError('forbidden', 'Cannot manage video playlist of another user')
  }
}

/** Throws `invalid` for “Watch later”, which cannot be changed. */
export function assertIsRegular({ type }: GuardedPlaylist, verb: 'update' | 'delete'): void {
  if (type === playlistTypes.watchLater) throw new DomainError('invalid', `Cannot ${verb} a watch later playlist.`)
}

/** Throws `invalid` for a playlist without a channel that is not private. */
export function assertHasChannel({ privacy, channelId }: { privacy: number; channelId: number | null }, named: string): void {
  if (channelId !== null || privacy === playlistPrivacies.private) return
  throw new DomainError('invalid', `Cannot set ${named} a playlist that is not assigned to a channel.`)
}
