export { makeShares, type Shares } from './share.commands.ts'
