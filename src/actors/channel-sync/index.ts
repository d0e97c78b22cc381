export { type ChannelSyncs, makeChannelSyncs } from './channel-sync.commands.ts'
export { assertMayManageSyncs } from './channel-sync.policy.ts'
export { type ChannelSyncRow, findChannelSync, listChannelSyncs } from './channel-sync.queries.ts'
export { type ChannelSyncDeps, runChannelSyncs } from './run-sync.ts'
