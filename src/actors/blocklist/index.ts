export { type Blocklist, makeBlocklist } from './blocklist.commands.ts'
export {
  blockedActors,
  blockedHosts,
  isActorMutedFor,
  isAnythingMuted,
  isHeard,
  isMutedBy,
  isMutedFor,
  mutedAccounts,
  mutedChannels,
  mutedHosts,
} from './blocklist.queries.ts'
export { endBlockedFollows } from './end-follows.ts'
