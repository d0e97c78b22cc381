// Every move of the machine `live-session`.

import { dueIn, initialLiveSession, liveSessionMachine } from '../../../src/state-machines/live-session.ts'
import { defineTable } from './table.ts'

const settings = {
  no_data_timeout: 30_000,
  reconnect_window: 45_000,
  check_owner_every: 60_000,
  retry_replay_after: 90_000,
  cleanup_delay: 300_000,
}
const second = { generation: 2 }
const stored = { type: 'PIECE_STORED', generation: 2 } as const
const lost = { type: 'LOST', generation: 2 } as const
const finished = { type: 'FINISHED', generation: 2 } as const
const failed = { type: 'FAILED', generation: 2, error: 'invalid-input' } as const
const blocked = { type: 'STOPPED', error: 'blocked' } as const
const timedOut = { type: 'TIMED_OUT' } as const

export const table = defineTable({
  machine: liveSessionMachine,
  starts: ['waiting'],
  context: initialLiveSession.context,
  settings,
  dueIn,
  rows: [
    { from: 'waiting', event: { type: 'ACCEPTED' }, to: 'receiving', gives: { generation: 1 } },

    { from: 'receiving', with: second, event: stored, to: 'publishing' },
    { from: 'receiving', with: second, event: lost, to: 'ended', gives: { error: 'bad-socket-health' } },
    { from: 'receiving', with: second, event: finished, to: 'ended' },
    { from: 'receiving', with: second, event: failed, to: 'ended', gives: { error: 'invalid-input' } },
    { from: 'receiving', event: blocked, to: 'ended', gives: { error: 'blocked' } },
    { from: 'receiving', event: timedOut, to: 'ended', gives: { error: 'bad-socket-health' } },
    { from: 'receiving', with: { generation: 3 }, event: stored, to: 'illegal' },

    { from: 'publishing', with: second, event: stored, to: 'publishing' },
    { from: 'publishing', with: second, event: lost, to: 'interrupted' },
    { from: 'publishing', with: second, event: finished, to: 'ending' },
    { from: 'publishing', with: second, event: failed, to: 'ending', gives: { error: 'invalid-input' } },
    { from: 'publishing', event: blocked, to: 'ending', gives: { error: 'blocked' } },
    { from: 'publishing', event: { type: 'STOPPED', error: null }, to: 'ending' },
    { from: 'publishing', event: timedOut, to: 'interrupted' },
    { from: 'publishing', with: { generation: 3 }, event: stored, to: 'illegal' },
    { from: 'publishing', with: { generation: 3 }, event: lost, to: 'illegal' },
    { from: 'publishing', with: { generation: 3 }, event: finished, to: 'illegal' },
    { from: 'publishing', with: { generation: 3 }, event: failed, to: 'illegal' },

    { from: 'interrupted', with: second, event: { type: 'ACCEPTED' }, to: 'publishing', gives: { generation: 3 } },
    { from: 'interrupted', event: blocked, to: 'ending', gives: { error: 'blocked' } },
    { from: 'interrupted', event: timedOut, to: 'ending' },
    { from: 'interrupted', with: second, event: stored, to: 'publishing' },
    { from: 'interrupted', with: second, event: finished, to: 'ending' },
    { from: 'interrupted', with: second, event: failed, to: 'ending', gives: { error: 'invalid-input' } },
    { from: 'interrupted', with: { generation: 3 }, event: stored, to: 'illegal' },
    { from: 'interrupted', with: second, event: lost, to: 'illegal' },

    { from: 'ending', event: { type: 'SAVED' }, to: 'ended' },
    { from: 'ending', event: timedOut, to: 'ending' },
    { from: 'ending', event: { type: 'ACCEPTED' }, to: 'illegal' },

    { from: 'ending', event: { type: 'SAVE_FAILED' }, to: 'unsaved' },
    { from: 'unsaved', event: timedOut, to: 'ending' },
    { from: 'unsaved', event: { type: 'SAVED' }, to: 'illegal' },

    { from: 'ended', event: timedOut, to: 'cleaned' },
    { from: 'cleaned', event: timedOut, to: 'illegal' },
    { from: 'ended', event: { type: 'ACCEPTED' }, to: 'illegal' },
    { from: 'ended', event: blocked, to: 'illegal' },
  ],
  dues: [
    { state: 'waiting', ms: null },
    { state: 'receiving', ms: 30_000 },
    { state: 'publishing', ms: 30_000 },
    { state: 'interrupted', ms: 45_000 },
    { state: 'ending', ms: 60_000 },
    { state: 'unsaved', ms: 90_000 },
    { state: 'ended', ms: 300_000 },
    { state: 'cleaned', ms: null },
  ],
})
