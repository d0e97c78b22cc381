export { acceptedExtensions } from './accepted-files.ts'
export { type ChunkRange, rangeHeader } from './receive-chunk.ts'
export { makeUploads, type Receipt, type Uploads } from './upload.commands.ts'
