export { type Blocklist, makeBlocklist } from './blocklist.commands.ts'
export {
  blockedActors,
  blockedHosts,
  isAnythingMuted,
  isMutedBy,
  isMutedFor,
  mutedChannels,
} from './blocklist.queries.ts'
export { endBlockedFollows } from './end-follows.ts'
