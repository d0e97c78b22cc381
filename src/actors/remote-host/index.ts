export { listPeers, type PeerListQuery, type PeerRow } from './peers.queries.ts'
export {
  ensureHost,
  type KnownHost,
  makeRemoteHosts,
  type RemoteHosts,
  type SignatureProfile,
  signatureProfiles,
} from './remote-host.commands.ts'
export { claimUncheckedHosts, noteSoftware } from './remote-host.writes.ts'
