export { makeTranscodings } from './transcode.ts'
export { makeTranscodeAgain, type TranscodeAgain } from './transcode-again.ts'
