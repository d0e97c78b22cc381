export { refuseNameless } from './job-names.ts'
export { type JobOperator, makeJobOperator } from './job-operator.ts'
export { type JobQueue, makeJobQueue } from './job-queue.commands.ts'
export { type JobState, jobStates, type ListedJob, listJobs } from './job-queue.queries.ts'
