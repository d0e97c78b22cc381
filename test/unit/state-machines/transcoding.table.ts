// Every move of the machine `transcoding`.

import { dueIn, initialTranscoding, transcodingMachine } from '../../../src/state-machines/transcoding.ts'
import { defineTable } from './table.ts'

const settings = { lease: 30_000, check_owner_every: 60_000, max_lost: 3 }
const timedOut = { type: 'TIMED_OUT', settings } as const
const released = { ...timedOut, isReleased: true } as const
const failed = { type: 'FAILED', error: 'no space' } as const
const lostTooOften = { lost: 3, error: 'The worker was lost too often' }

export const table = defineTable({
  machine: transcodingMachine,
  starts: ['planned'],
  context: initialTranscoding.context,
  settings,
  dueIn,
  rows: [
    {
      from: 'planned',
      with: { lost: 1, error: 'before' },
      event: { type: 'STARTED', total: 6, made: 2, plan: 'six' },
      to: 'running',
      gives: { total: 6, made: 2, plan: 'six', error: null },
    },
    { from: 'planned', event: failed, to: 'failed', gives: { error: 'no space' } },
    { from: 'planned', event: { type: 'CANCELLED' }, to: 'cancelled' },
    { from: 'planned', event: timedOut, to: 'planned' },

    {
      from: 'running',
      with: { total: 2, made: 1, lost: 2 },
      event: { type: 'RENDITION_MADE' },
      to: 'running',
      gives: { made: 2, lost: 0 },
    },
    { from: 'running', with: { total: 2, made: 2 }, event: { type: 'RENDITION_MADE' }, to: 'illegal' },
    { from: 'running', with: { total: 2, made: 2 }, event: { type: 'PACKAGED' }, to: 'packaged' },
    { from: 'running', with: { total: 2, made: 1 }, event: { type: 'PACKAGED' }, to: 'illegal' },
    { from: 'running', event: { type: 'RENEWED' }, to: 'running' },
    { from: 'running', event: failed, to: 'failed', gives: { error: 'no space' } },
    { from: 'running', event: { type: 'CANCELLED' }, to: 'cancelled' },
    { from: 'running', with: { lost: 1 }, event: timedOut, to: 'planned', gives: { lost: 2 } },
    { from: 'running', with: { lost: 2 }, event: timedOut, to: 'failed', gives: lostTooOften },
    { from: 'running', with: { lost: 2 }, event: released, to: 'planned' },

    { from: 'packaged', event: { type: 'STORED' }, to: 'stored' },
    { from: 'packaged', event: { type: 'RENEWED' }, to: 'packaged' },
    { from: 'packaged', event: failed, to: 'failed', gives: { error: 'no space' } },
    { from: 'packaged', event: { type: 'CANCELLED' }, to: 'cancelled' },
    { from: 'packaged', event: timedOut, to: 'planned', gives: { lost: 1 } },
    { from: 'packaged', with: { lost: 2 }, event: timedOut, to: 'failed', gives: lostTooOften },
    { from: 'packaged', with: { lost: 2 }, event: released, to: 'planned' },

    { from: 'stored', event: { type: 'FINISHED' }, to: 'done' },
    { from: 'stored', event: { type: 'RENEWED' }, to: 'stored' },
    { from: 'stored', event: failed, to: 'failed', gives: { error: 'no space' } },
    { from: 'stored', event: { type: 'CANCELLED' }, to: 'cancelled' },
    { from: 'stored', event: timedOut, to: 'planned', gives: { lost: 1 } },
    { from: 'stored', with: { lost: 2 }, event: timedOut, to: 'failed', gives: lostTooOften },
    { from: 'stored', with: { lost: 2 }, event: released, to: 'planned' },

    {
      from: 'failed',
      with: { lost: 3, error: 'no space' },
      event: { type: 'RETRIED' },
      to: 'planned',
      gives: { lost: 0, error: null },
    },
    { from: 'failed', event: { type: 'CANCELLED' }, to: 'cancelled' },
  ],
  dues: [
    { state: 'planned', ms: 60_000 },
    { state: 'running', ms: 30_000 },
    { state: 'packaged', ms: 30_000 },
    { state: 'stored', ms: 30_000 },
    { state: 'done', ms: null },
    { state: 'failed', ms: null },
    { state: 'cancelled', ms: null },
  ],
})
