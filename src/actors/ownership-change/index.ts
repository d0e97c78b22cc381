export { lastNotifiedOwner, noteOwner, notifiedOwners, type VideoOwner } from './notified-owners.ts'
export { makeOwnershipChanges, type OwnershipChanges } from './ownership-change.commands.ts'
export { listOwnershipChanges, type OwnershipChangeRow } from './ownership-change.queries.ts'
