export {
  type InputAddress,
  makeRemoteWorks,
  mostBytesOf,
  notWanted,
  type Part,
  type RemoteWork,
  type RemoteWorks,
  type Result,
  type ResultField,
  type RunnerJob,
  resultFields,
  withResultLease,
} from './remote-work.ts'
export { type KnownRunner, makeRunners, type Runners } from './runner.commands.ts'
export {
  findLeasedJob,
  findRunnerId,
  isForRunners,
  isTokenOf,
  listOfferedJobs,
  listRegistrationTokens,
  listRunnerJobs,
  listRunners,
  presentRunners,
  type RegistrationTokenRow,
  type RunnerJobRow,
  type RunnerRow,
  runnerJobSorts,
  runnerJobStates,
} from './runner.queries.ts'
export { type Leased, makeRunnerJobs, type RunnerJobs } from './runner-jobs.commands.ts'
