export {
  type AccountBlockRow,
  accountBlockStatus,
  type BlockStatusRow,
  listAccountBlocks,
  listServerBlocks,
  type ServerBlockRow,
  serverBlockStatus,
} from './blocks.queries.ts'
