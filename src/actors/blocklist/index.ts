export { type Blocklist, makeBlocklist } from './blocklist.commands.ts'
export {
  blockedActors,
  blockedHosts,
  isAnythingMuted,
  isHeard,
  isMutedBy,
  isMutedFor,
  mutedAccounts,
  mutedChannels,
  mutedHosts,
  ownedByBlocked,
} from './blocklist.queries.ts'
export { endBlockedFollows } from './end-follows.ts'
