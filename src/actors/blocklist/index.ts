export { readAccountList } from './account-list.ts'
export { type BlockLists, type Blocklist, type ListOwner, makeBlockLists, makeBlocklist } from './blocklist.commands.ts'
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
export { type BadLine, normalHost, readServerList, writeLines, writeServerTable } from './server-list.ts'
