// Every move of the machine `channel-sync`.

import { channelSyncMachine, dueIn, initialChannelSync } from '../../../src/state-machines/channel-sync.ts'
import { defineTable } from './table.ts'

const minute = 60_000
const hour = 60 * minute
const { context: fresh } = initialChannelSync
const used = { extent: 'whole', listed: true, refused: 2, error: 'The site is away' } as const

const timedOut = (allowed = true) => ({ type: 'TIMED_OUT', allowed }) as const
const finished = (failed: number) => ({ type: 'FINISHED', failed }) as const
const whole = { ...fresh, extent: 'whole' } as const

export const table = defineTable({
  machine: channelSyncMachine,
  starts: ['waiting-first-run'],
  context: fresh,
  settings: { check_interval: hour },
  dueIn,
  rows: [
    { from: 'waiting-first-run', event: { type: 'ASKED' }, to: 'processing', gives: whole },
    { from: 'waiting-first-run', event: timedOut(), to: 'processing', gives: fresh },
    { from: 'waiting-first-run', event: timedOut(false), to: 'waiting-first-run' },

    { from: 'processing', event: { type: 'ASKED' }, to: 'processing', gives: { again: true } },
    { from: 'processing', event: { type: 'LISTED', refused: 0 }, to: 'processing', gives: { listed: true } },
    {
      from: 'processing',
      event: { type: 'LISTED', refused: 3 },
      to: 'processing',
      gives: { listed: true, refused: 3 },
    },
    { from: 'processing', with: { listed: true }, event: finished(0), to: 'synced' },
    {
      from: 'processing',
      with: { refused: 2 },
      event: finished(1),
      to: 'failed',
      gives: { error: '3 videos could not be imported' },
    },
    {
      from: 'processing',
      with: { refused: 2 },
      event: finished(0),
      to: 'failed',
      gives: { error: '2 videos could not be imported' },
    },
    { from: 'processing', with: { ...used, again: true }, event: finished(1), to: 'processing', gives: whole },
    {
      from: 'processing',
      with: { again: true },
      event: { type: 'FAILED', error: 'The site is away' },
      to: 'failed',
      gives: { again: false, error: 'The site is away' },
    },
    { from: 'processing', with: used, event: timedOut(), to: 'processing' },
    { from: 'processing', event: timedOut(false), to: 'processing' },

    { from: 'synced', with: used, event: { type: 'ASKED' }, to: 'processing', gives: whole },
    { from: 'synced', with: used, event: timedOut(), to: 'processing', gives: fresh },
    { from: 'synced', with: used, event: timedOut(false), to: 'synced' },

    { from: 'failed', with: used, event: { type: 'ASKED' }, to: 'processing', gives: whole },
    { from: 'failed', with: used, event: timedOut(), to: 'processing', gives: fresh },
    { from: 'failed', with: used, event: timedOut(false), to: 'failed' },
  ],
  dues: [
    { state: 'waiting-first-run', ms: hour },
    { state: 'processing', ms: hour },
    { state: 'processing', with: { listed: true }, ms: 15_000 },
    { state: 'synced', ms: hour },
    { state: 'failed', ms: hour },
  ],
})
