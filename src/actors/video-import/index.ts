export { type RunImportDeps, runImports } from './run-import.ts'
export { type ImportRequest, type ImportUser, makeVideoImports, type VideoImports } from './video-import.commands.ts'
export {
  findImportedUrls,
  findVideoImport,
  listVideoImports,
  type VideoImportQuery,
  type VideoImportRow,
  videoImportStates,
} from './video-import.queries.ts'
