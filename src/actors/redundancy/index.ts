export { downloadRedundancies } from './download.ts'
export { type Copied, makeRedundancies, type Redundancies } from './redundancy.commands.ts'
export { listMirroredVideos, type MirroredVideoRow } from './redundancy.queries.ts'
export { type RedundancyStats, redundancyStats } from './redundancy-stats.queries.ts'
