// Every move of the machine `job-queue`.

import { initialJobQueue, jobQueueMachine } from '../../../src/state-machines/job-queue.ts'
import { defineTable } from './table.ts'

export const table = defineTable({
  machine: jobQueueMachine,
  starts: ['running'],
  context: initialJobQueue.context,
  settings: {},
  rows: [
    { from: 'running', event: { type: 'PAUSED' }, to: 'paused' },
    { from: 'running', event: { type: 'RESUMED' }, to: 'running' },
    { from: 'paused', event: { type: 'RESUMED' }, to: 'running' },
    { from: 'paused', event: { type: 'PAUSED' }, to: 'paused' },
  ],
  dues: [
    { state: 'running', ms: null },
    { state: 'paused', ms: null },
  ],
})
