export { liveErrorIds } from '../../state-machines/live-session.ts'
export { encodeRenditions } from './encode-renditions.ts'
export { type Lives, makeLives } from './live.commands.ts'
export { latencyModes } from './live.entity.ts'
export {
  findLive,
  findLiveStream,
  findSessionOfReplay,
  type LiveRow,
  type LiveSessionRow,
  listLiveSessions,
  listReplays,
  type ReplayRow,
} from './live.queries.ts'
export { type LiveAddresses, liveAddresses } from './live-addresses.ts'
export { hashesOf, type LivePieceRow, masterPlaylist, renditionPlaylist, shownRenditions } from './live-playlists.ts'
export { type AcceptedStream, type LiveSessions, makeLiveSessions, type StoredPiece, type StreamEnd } from './live-session.commands.ts'
export { admitPlayer, makeRemoteRenditions, type PlayedJob } from './remote-renditions.ts'
export { type SaveReplayDeps, saveReplays } from './save-replay.ts'
export { superviseLiveSessions } from './supervise-sessions.ts'
