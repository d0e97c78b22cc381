// Every move of the machine `redundancy`.

import { dueIn, initialRedundancy, redundancyMachine } from '../../../src/state-machines/redundancy.ts'
import { defineTable } from './table.ts'

const settings = { lease: 30_000, check_owner_every: 60_000, max_lost: 3, keep_failed: 86_400_000 }
const timedOut = { type: 'TIMED_OUT', settings } as const
const released = { ...timedOut, isReleased: true } as const
const failed = { type: 'FAILED', error: 'no space' } as const
const removed = { type: 'REMOVED' } as const
const lostTooOften = { lost: 3, error: 'The worker was lost too often' }
const remote = { by: 'them' } as const

export const table = defineTable({
  machine: redundancyMachine,
  starts: ['wanted', 'announced'],
  context: initialRedundancy.context,
  settings,
  dueIn,
  rows: [
    { from: 'wanted', event: { type: 'STARTED' }, to: 'downloading' },
    { from: 'wanted', event: failed, to: 'failed', gives: { error: 'no space' } },
    { from: 'wanted', with: { told: true }, event: failed, to: 'expiring', gives: { error: 'no space' } },
    { from: 'wanted', event: removed, to: 'expiring' },
    { from: 'wanted', event: timedOut, to: 'wanted' },
    { from: 'wanted', event: { type: 'STORED' }, to: 'illegal' },

    { from: 'downloading', event: { type: 'RENEWED' }, to: 'downloading' },
    {
      from: 'downloading',
      with: { lost: 2, error: 'before' },
      event: { type: 'STORED' },
      to: 'stored',
      gives: { lost: 0, error: null },
    },
    { from: 'downloading', event: failed, to: 'failed', gives: { error: 'no space' } },
    { from: 'downloading', with: { told: true }, event: failed, to: 'expiring', gives: { error: 'no space' } },
    { from: 'downloading', event: removed, to: 'expiring' },
    { from: 'downloading', with: { lost: 1 }, event: timedOut, to: 'wanted', gives: { lost: 2 } },
    { from: 'downloading', with: { lost: 2 }, event: timedOut, to: 'failed', gives: lostTooOften },
    { from: 'downloading', with: { lost: 2, told: true }, event: timedOut, to: 'expiring', gives: lostTooOften },
    { from: 'downloading', with: { lost: 2 }, event: released, to: 'wanted' },

    { from: 'stored', event: { type: 'ANNOUNCED' }, to: 'announced', gives: { told: true } },
    { from: 'stored', event: removed, to: 'expiring' },
    { from: 'stored', event: timedOut, to: 'stored' },
    { from: 'stored', event: { type: 'OUTDATED' }, to: 'illegal' },

    {
      from: 'announced',
      with: { lifetime: 5 },
      event: { type: 'EXTENDED', lifetime: 9 },
      to: 'announced',
      gives: { lifetime: 9 },
    },
    { from: 'announced', event: { type: 'OUTDATED' }, to: 'wanted' },
    { from: 'announced', event: removed, to: 'expiring' },
    { from: 'announced', with: remote, event: removed, to: 'removed' },
    { from: 'announced', event: timedOut, to: 'expiring' },
    { from: 'announced', with: remote, event: timedOut, to: 'removed' },

    { from: 'expiring', event: { type: 'CLEARED' }, to: 'removed' },
    { from: 'expiring', event: timedOut, to: 'expiring' },
    { from: 'expiring', event: removed, to: 'illegal' },

    {
      from: 'failed',
      with: { lost: 3, error: 'no space' },
      event: { type: 'RETRIED' },
      to: 'wanted',
      gives: { lost: 0, error: null },
    },
    { from: 'failed', event: removed, to: 'removed' },
    { from: 'failed', event: timedOut, to: 'removed' },
  ],
  dues: [
    { state: 'wanted', ms: 60_000 },
    { state: 'downloading', ms: 30_000 },
    { state: 'stored', ms: 60_000 },
    { state: 'announced', ms: null },
    { state: 'announced', with: { lifetime: 7000 }, ms: 7000 },
    { state: 'expiring', ms: 60_000 },
    { state: 'removed', ms: null },
    { state: 'failed', ms: 86_400_000 },
  ],
})
