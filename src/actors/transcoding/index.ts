export { findSourceFile, isThere, type SourceFile } from './source-file.ts'
export { makeTranscodings } from './transcode.ts'
export { makeTranscodeAgain, type TranscodeAgain } from './transcode-again.ts'
