export { type Captions, makeCaptions, type PlacedCaption } from './caption.commands.ts'
export type { VideoCaption } from './caption.entity.ts'
export { listCaptions } from './caption.queries.ts'
export { makeTranscriptions, type Transcriptions } from './transcription.ts'
