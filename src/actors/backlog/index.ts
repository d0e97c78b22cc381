export { type Backlog, readBacklog } from './backlog.queries.ts'
