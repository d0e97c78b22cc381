export { type Captions, makeCaptions } from './caption.commands.ts'
export { listCaptions } from './caption.queries.ts'
