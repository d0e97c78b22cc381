export { listPeers, type PeerListQuery, type PeerRow } from './peers.queries.ts'
export {
  ensureHost,
  type KnownHost,
  makeRemoteHosts,
  type RemoteHosts,
  type SignatureProfile,
  signatureProfiles,
} from './remote-host.commands.ts'
export { noteSoftware, takeUncheckedHosts } from './remote-host.writes.ts'
