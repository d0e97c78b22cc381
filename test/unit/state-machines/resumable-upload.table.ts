// Every move of the machine `resumable-upload`.

import { dueIn, initialResumableUpload, resumableUploadMachine } from '../../../src/state-machines/resumable-upload.ts'
import { defineTable } from './table.ts'

const hour = 3_600_000
const chunk = (from: number, bytes: number) => ({ type: 'CHUNK_STORED', from, bytes }) as const

export const table = defineTable({
  machine: resumableUploadMachine,
  starts: ['created'],
  context: initialResumableUpload(100).context,
  settings: { session_lifetime: hour },
  dueIn,
  rows: [
    { from: 'created', event: chunk(0, 100), to: 'assembled', gives: { received: 100 } },
    { from: 'created', event: chunk(0, 60), to: 'receiving', gives: { received: 60 } },
    { from: 'created', event: chunk(10, 20), to: 'created' },
    { from: 'created', event: chunk(0, 0), to: 'created' },
    { from: 'created', event: chunk(0, 101), to: 'created' },
    { from: 'created', event: { type: 'ASKED' }, to: 'created' },
    { from: 'created', event: { type: 'CANCELLED' }, to: 'cancelled' },
    { from: 'created', event: { type: 'TIMED_OUT' }, to: 'expired' },

    { from: 'receiving', with: { received: 60 }, event: chunk(60, 40), to: 'assembled', gives: { received: 100 } },
    { from: 'receiving', with: { received: 60 }, event: chunk(60, 39), to: 'receiving', gives: { received: 99 } },
    { from: 'receiving', with: { received: 60 }, event: chunk(61, 39), to: 'receiving' },
    { from: 'receiving', with: { received: 60 }, event: chunk(0, 60), to: 'receiving' },
    { from: 'receiving', with: { received: 60 }, event: chunk(60, 41), to: 'receiving' },
    { from: 'receiving', with: { received: 60 }, event: chunk(60, -60), to: 'receiving' },
    { from: 'receiving', with: { received: 60 }, event: { type: 'ENDED' }, to: 'assembled', gives: { size: 60 } },
    { from: 'receiving', with: { received: 60 }, event: { type: 'ASKED' }, to: 'receiving' },
    { from: 'receiving', event: { type: 'CANCELLED' }, to: 'cancelled' },
    { from: 'receiving', event: { type: 'TIMED_OUT' }, to: 'expired' },

    { from: 'assembled', event: { type: 'ASKED' }, to: 'assembled' },
    { from: 'assembled', event: { type: 'FINISHED' }, to: 'finished' },
    { from: 'assembled', event: { type: 'REFUSED' }, to: 'refused' },
    { from: 'assembled', event: { type: 'CANCELLED' }, to: 'cancelled' },
    { from: 'assembled', event: { type: 'TIMED_OUT' }, to: 'expired' },

    { from: 'cancelled', event: { type: 'CANCELLED' }, to: 'cancelled' },
  ],
  dues: [
    { state: 'created', ms: hour },
    { state: 'receiving', ms: hour },
    { state: 'assembled', ms: hour },
    { state: 'finished', ms: null },
    { state: 'refused', ms: null },
    { state: 'cancelled', ms: null },
    { state: 'expired', ms: null },
  ],
})
