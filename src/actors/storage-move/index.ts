export { makeStorageMoves, type StorageMoves } from './storage-move.commands.ts'
