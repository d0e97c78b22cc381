export { type Blocklist, type BlocklistOperator, makeBlocklist, makeBlocklistOperator } from './blocklist.commands.ts'
export {
  type Blocks,
  blockedHosts,
  blocksOf,
  isActorMutedFor,
  isAnythingMuted,
  isMutedBy,
  isMutedFor,
  isNotMuted,
  mutedAccounts,
  mutedChannels,
  mutedHosts,
  ownedByBlocked,
} from './blocklist.queries.ts'
export { endBlockedFollows } from './end-follows.ts'
export { type BadLine, normalHost, readServerList, writeServerLines, writeServerTable } from './server-list.ts'
