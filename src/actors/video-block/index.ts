export { makeVideoBlocks, type VideoBlocks } from './video-block.commands.ts'
export {
  listVideoBlocks,
  type VideoBlockRow,
  type VideoBlockSortField,
  videoBlockSortFields,
} from './video-block.queries.ts'
