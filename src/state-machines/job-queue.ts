// The queue of all jobs, which an admin may pause: running jobs finish, no other is started.

import { setup } from 'xstate'
import type { Snapshot, StateMeta } from './step.ts'

export type JobQueueState = 'running' | 'paused'
export type JobQueueContext = Record<string, never>
export type JobQueueEvent = { type: 'PAUSED' } | { type: 'RESUMED' }

export const initialJobQueue: Snapshot<JobQueueState, JobQueueContext> = { state: 'running', context: {} }

export const jobQueueMachine = setup({
  types: { context: {} as JobQueueContext, events: {} as JobQueueEvent, meta: {} as StateMeta },
}).createMachine({
  id: 'job-queue',
  context: initialJobQueue.context,
  initial: 'running',
  states: {
    running: {
      meta: { owner: 'an admin' },
      on: { PAUSED: { target: 'paused' }, RESUMED: { target: 'running' } },
    },
    paused: {
      meta: { owner: 'an admin' },
      on: { RESUMED: { target: 'running' }, PAUSED: { target: 'paused' } },
    },
  },
})
