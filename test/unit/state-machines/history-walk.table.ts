// Every move of the machine `history-walk`.

import { dueIn, type HistoryWalkSettings, historyWalkMachine, initialHistoryWalk } from '../../../src/state-machines/history-walk.ts'
import { defineTable } from './table.ts'

const minute = 60_000
const hour = 60 * minute
const settings: HistoryWalkSettings = {
  initial_backoff: minute,
  max_backoff: 12 * hour,
  attempts: 10,
  look_again: 24 * hour,
}

const failed = (hopeless = false) => ({ type: 'FAILED', hopeless, settings }) as const
const finished = (aside: number) => ({ type: 'FINISHED', aside, settings }) as const
const { context: fresh } = initialHistoryWalk
const tired = { extent: 'newest', tries: 3, rounds: 4, hopeless: true } as const

export const table = defineTable({
  machine: historyWalkMachine,
  starts: ['waiting'],
  context: fresh,
  settings,
  dueIn,
  rows: [
    { from: 'waiting', with: tired, event: { type: 'ASKED' }, to: 'waiting' },
    { from: 'waiting', with: tired, event: { type: 'STARTED' }, to: 'walking' },
    { from: 'waiting', event: { type: 'TIMED_OUT' }, to: 'waiting' },
    { from: 'waiting', event: { type: 'STOPPED' }, to: 'stopped' },

    { from: 'walking', with: tired, event: { type: 'ASKED' }, to: 'walking' },
    { from: 'walking', event: { type: 'STARTED' }, to: 'walking' },
    { from: 'walking', with: tired, event: { type: 'PAGE_READ' }, to: 'walking', gives: { tries: 0, hopeless: false } },
    { from: 'walking', with: tired, event: finished(0), to: 'done', gives: { tries: 0, hopeless: false } },
    { from: 'walking', event: finished(2), to: 'incomplete', gives: { rounds: 1 } },
    { from: 'walking', with: { rounds: 8 }, event: finished(2), to: 'incomplete', gives: { rounds: 9 } },
    { from: 'walking', with: { rounds: 9 }, event: finished(2), to: 'done' },
    { from: 'walking', event: failed(), to: 'retrying', gives: { tries: 1 } },
    { from: 'walking', with: { tries: 9 }, event: failed(), to: 'failed', gives: { tries: 10 } },
    { from: 'walking', event: failed(true), to: 'failed', gives: { tries: 1, hopeless: true } },
    { from: 'walking', event: { type: 'TIMED_OUT' }, to: 'walking' },
    { from: 'walking', event: { type: 'STOPPED' }, to: 'stopped' },

    { from: 'retrying', with: tired, event: { type: 'ASKED' }, to: 'waiting', gives: fresh },
    { from: 'retrying', with: { tries: 2 }, event: { type: 'TIMED_OUT' }, to: 'waiting' },
    { from: 'retrying', event: { type: 'STOPPED' }, to: 'stopped' },

    { from: 'incomplete', with: tired, event: { type: 'ASKED' }, to: 'waiting', gives: fresh },
    { from: 'incomplete', with: { rounds: 2 }, event: { type: 'TIMED_OUT' }, to: 'waiting' },
    { from: 'incomplete', event: { type: 'STOPPED' }, to: 'stopped' },

    { from: 'done', with: tired, event: { type: 'ASKED' }, to: 'waiting', gives: fresh },
    { from: 'done', with: tired, event: { type: 'TIMED_OUT' }, to: 'waiting', gives: { ...fresh, extent: 'newest' } },
    { from: 'done', event: { type: 'STOPPED' }, to: 'stopped' },

    { from: 'failed', with: tired, event: { type: 'ASKED' }, to: 'waiting', gives: fresh },
    { from: 'failed', with: tired, event: { type: 'TIMED_OUT' }, to: 'waiting', gives: { ...fresh, extent: 'newest' } },
    {
      from: 'failed',
      with: { tries: 10, rounds: 2 },
      event: { type: 'TIMED_OUT' },
      to: 'waiting',
      gives: { tries: 0 },
    },
    { from: 'failed', event: { type: 'STOPPED' }, to: 'stopped' },

    { from: 'stopped', with: tired, event: { type: 'ASKED' }, to: 'waiting', gives: fresh },
    { from: 'stopped', event: { type: 'STOPPED' }, to: 'stopped' },
  ],
  dues: [
    { state: 'waiting', ms: hour },
    { state: 'walking', ms: hour },
    { state: 'retrying', with: { tries: 1 }, ms: minute },
    { state: 'retrying', with: { tries: 4 }, ms: 8 * minute },
    { state: 'incomplete', with: { rounds: 40 }, ms: 12 * hour },
    { state: 'done', ms: 24 * hour },
    { state: 'failed', ms: 24 * hour },
    { state: 'stopped', ms: null },
  ],
})
