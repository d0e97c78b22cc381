export { acceptedExtensions } from '../../media/index.ts'
export { type ChunkRange, rangeHeader } from './receive-chunk.ts'
export { makeUploads, type Receipt, type Uploads } from './upload.commands.ts'
