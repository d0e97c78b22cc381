export { type Blocklist, makeBlocklist } from './blocklist.commands.ts'
export { isBlockedActor, isBlockedHost, isMutedBy, isMutedFor, mutedChannels } from './blocklist.queries.ts'
export { endBlockedFollows } from './end-follows.ts'
