export type { ArchiveDocuments, ArchivedDocument, ArchivedVideo } from './archive-documents.ts'
export { makeArchiveWriter, partPath } from './archive-writer.ts'
export { type Export, findExportedUser } from './export.ts'
export { type ArchivedFile, type ImportContext, type ItemOutcome, type ItemReason, itemReasons } from './import-context.ts'
export { isForNow, reasonOf } from './import-errors.ts'
export { AlreadyImported } from './imported-objects.ts'
export { writeOutbox } from './kinds/outbox.ts'
export {
  type ArchivePart,
  archiveParts,
  type ImportedPart,
  importedParts,
  makePartImporters,
  type PartImporter,
  type PartImporterDeps,
  partOf,
  type ResultName,
  resultNames,
} from './parts.ts'
export { type Unpack, withWorkFolder } from './unpack.ts'
