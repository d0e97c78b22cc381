export { makePlaylists, type PlaylistBeginning, type PlaylistFields, type Playlists } from './playlist.commands.ts'
export { type Playlist, type PlaylistElement, playlistPrivacies, playlistTypes } from './playlist.entity.ts'
export { assertMayManagePlaylist, assertMaySeePlaylist, isOpenPlaylistBy } from './playlist.policy.ts'
export {
  type ElementRow,
  findPlaylist,
  findPlaylistKey,
  findPlaylistOwner,
  findPlaylistPicture,
  firstPicture,
  listElements,
  listPlaylists,
  listPlaylistsWith,
  type PlaylistKey,
  type PlaylistListQuery,
  type PlaylistRow,
  type PlaylistWith,
  playlistSortFields,
} from './playlist.queries.ts'
export {
  makePlaylistElements,
  type NewElement,
  type PlaylistElements,
  recountPlaylists,
  type Timestamps,
} from './playlist-elements.ts'
export {
  makeRemotePlaylists,
  PLAYLIST_JOB,
  type RemoteElement,
  type RemotePlaylist,
  type RemotePlaylists,
  type SaveOptions,
  type StoredPlaylist,
} from './remote-playlist.ts'
export { maintainPlaylistTotals, reconcilePlaylistTotals } from './totals.ts'
