export { makeTorrents, type TorrentDeps } from './make-torrents.ts'
export { findSwarmAccess, type SwarmAccess } from './torrent.queries.ts'
export { trackersOf } from './trackers.ts'
