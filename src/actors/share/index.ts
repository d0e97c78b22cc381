export { makeShares, type Shares } from './share.commands.ts'
export { removeFormerShares, removeLocalShares, storeShare } from './share.writes.ts'
