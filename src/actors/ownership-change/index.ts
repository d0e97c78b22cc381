export { makeOwnershipChanges, type OwnershipChanges } from './ownership-change.commands.ts'
export { listOwnershipChanges, type OwnershipChangeRow } from './ownership-change.queries.ts'
export { lastToldOwner, noteOwner, toldOwners, type VideoOwner } from './told-owners.ts'
