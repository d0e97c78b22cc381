export { localCommentCount, makeServerStats, type ServerStats, type ServerStatsReader } from './server-stats.ts'
