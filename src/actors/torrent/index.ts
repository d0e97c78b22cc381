export { makeTorrents, type TorrentDeps } from './make-torrents.ts'
export { isSwarmOfOurs } from './torrent.queries.ts'
export { trackersOf } from './trackers.ts'
