export { followBack } from './auto-follow.ts'
export { dropFollow, dropFollows, maintainFollowCounts } from './counters.ts'
export { type Follows, makeFollows } from './follow.commands.ts'
export type { Follow } from './follow.entity.ts'
export {
  buildFollowerList,
  type FollowActorRow,
  type FollowerListQuery,
  type FollowListQuery,
  type FollowRow,
  findFollow,
  findFollowByHandle,
  followsAccount,
  isFormerRequest,
  listFollowers,
  listFollows,
} from './follow.queries.ts'
export { type HistoryWalk, type HistoryWalks, makeHistoryWalks } from './history.commands.ts'
export { type HistoryRow, historiesOf } from './history.queries.ts'
export { cancelPendingRequest } from './pending-requests.ts'
