export { type ArchivePart, archiveParts, type PartItem, partPath, type ReadPartItem } from './parts.ts'
