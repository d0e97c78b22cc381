export { makeBatchedCommands, type Outcome } from './batched-commands.ts'
export type { ChangeObserver, ChangeObservers, Noted } from './change-observer.ts'
export { makeDetachedTell } from './detached-tell.ts'
export { DomainError, type ErrorKind, type InvalidParam, ifThere, ignoreNotFound, notFound } from './domain-error.ts'
export { eachRow, inBatches } from './each-row.ts'
export type { AggregateRef, EventName, EventPayloads } from './events.ts'
export { type GuessLimits, makeGuessLimits, tooManyGuesses } from './guess-limits.ts'
export { startHeartbeat } from './heartbeat.ts'
export { pruneJobHistory } from './history.ts'
export { cancelJobs, jobLifecycle, removeUnstartedJobs, type StoredJob } from './job.lifecycle.ts'
export { isOutage, NotNow, PermanentFailure } from './jobs.ts'
export { removeIdleLanes } from './lanes.ts'
export { isDeadHere, leaseOwner } from './lease.ts'
export {
  advance,
  advanceRow,
  CHECK_OWNER_EVERY,
  contextOf,
  defineLifecycle,
  inBulk,
  initialColumns,
  type Move,
  next,
  setMoves,
  storeMove,
  storeRow,
  takes,
} from './lifecycle.ts'
export { foldTotal, hasRows, type MaintainedTotal, setTotalRight, sumOf } from './maintained-total.ts'
export { JOB_QUEUE_TOPIC, NOT_PAUSED } from './pause.ts'
export type { ActorDeps, LocalUrls } from './ports.ts'
export { recountNext } from './recount.ts'
export type { JobContext, JobHandler, LaneHandler, Registry } from './registry.ts'
export { resumeJobs } from './resume-jobs.ts'
export { holderOf, type LeasedRow, LeaseLost, makeRowLeases, type RowLeases } from './row-leases.ts'
export {
  cancelRunnerJob,
  changeRunnerJob,
  deleteRunnerJob,
  hasRunnerJob,
  insertRunnerJob,
  isOpenRunnerJob,
  moveRunnerJobs,
  offerRunnerJob,
  RUNNER_JOBS_TOPIC,
  type RunnerJobData,
  runnerJobLifecycle,
  type StoredRunnerJob,
  settleChildren,
} from './runner-jobs.ts'
export { makeRuntime, type Runtime, type RuntimeSettings } from './runtime.ts'
export type { Tell } from './tell.ts'
export { type JsonObject, type NewJob, type PassOn, perUnit, type StoreWith, type Unit } from './unit.ts'
