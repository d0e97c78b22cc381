export { makeTranscodings } from './transcode.ts'
