// The synchronisation of a local channel with one of another site: periodically its newest videos are imported, and all of them on the
// owner's request.

import { assign, setup } from 'xstate'
import type { Snapshot, StateMeta } from './step.ts'

export type ChannelSyncState = 'waiting-first-run' | 'processing' | 'synced' | 'failed'

export interface ChannelSyncContext {
  /** `whole`: all videos; `newest`: those published since the last round. */
  extent: 'whole' | 'newest'
  /** True if the other site was read in this round, and only imports are pending. */
  listed: boolean
  /** Videos that could not be queued in this round. */
  refused: number
  /** True if all videos were requested during a round: another one follows. */
  again: boolean
  /** Why it failed; null otherwise. */
  error: string | null
}

export interface ChannelSyncSettings {
  /** Of the configuration's `import.video_channel_synchronization`, in ms. */
  check_interval: number
}

export type ChannelSyncEvent =
  /** All videos are requested now. */
  | { type: 'ASKED' }
  /** The other site was read, and its new videos are queued. */
  | { type: 'LISTED'; refused: number }
  /** All imports of the round have ended; `failed` of them without a video. */
  | { type: 'FINISHED'; failed: number }
  | { type: 'FAILED'; error: string }
  /** `allowed`: the feature is enabled, and the user may import. */
  | { type: 'TIMED_OUT'; allowed: boolean }

const context: ChannelSyncContext = { extent: 'newest', listed: false, refused: 0, again: false, error: null }

export const initialChannelSync: Snapshot<ChannelSyncState, ChannelSyncContext> = {
  state: 'waiting-first-run',
  context,
}

/** How often the imports of a round are checked, in ms. */
const LOOK_AT_IMPORTS_EVERY = 15_000
/** A job that has not read the other site after this time is queued again, in ms. */
const STALLED_AFTER = 3_600_000

const flow = setup({
  types: { context: {} as ChannelSyncContext, events: {} as ChannelSyncEvent, meta: {} as StateMeta },
  actions: {
    beginWhole: assign({ ...context, extent: 'whole' }),
    beginNewest: assign(context),
    noteListed: assign({
      listed: true,
      refused: ({ context, event }) => (event.type === 'LISTED' ? event.refused : context.refused),
    }),
    noteAgain: assign({ again: true }),
    noteMissing: assign({
      error: ({ context, event }) =>
        event.type === 'FINISHED' ? `${event.failed + context.refused} videos could not be imported` : context.error,
    }),
    noteError: assign({
      again: false,
      error: ({ context, event }) => (event.type === 'FAILED' ? event.error : context.error),
    }),
  },
  guards: {
    again: ({ context }) => context.again,
    isIncomplete: ({ context, event }) => event.type === 'FINISHED' && event.failed + context.refused > 0,
    allowed: ({ event }) => event.type === 'TIMED_OUT' && event.allowed,
  },
})

/** For the states between two rounds. */
const rests = (state: ChannelSyncState) =>
  ({
    ASKED: { target: 'processing', actions: 'beginWhole' },
    TIMED_OUT: [
      { guard: 'allowed', target: 'processing', actions: 'beginNewest' },
      { target: state, description: 'the feature is off, or the user blocked' },
    ],
  }) as const

export const channelSyncMachine = flow.createMachine({
  id: 'channel-sync',
  context,
  initial: 'waiting-first-run',
  states: {
    'waiting-first-run': {
      meta: { due: 'the check interval, 1 hour', owner: 'its user requests all videos' },
      on: rests('waiting-first-run'),
    },
    processing: {
      meta: {
        due: 'the imports are checked every 15 s; before that, the job is queued again after an hour',
        owner: 'the jobs video-channel-import and after-video-channel-import',
      },
      on: {
        ASKED: { target: 'processing', actions: 'noteAgain' },
        LISTED: { target: 'processing', actions: 'noteListed' },
        FINISHED: [
          { guard: 'again', target: 'processing', actions: 'beginWhole', description: 'all was requested meanwhile' },
          { guard: 'isIncomplete', target: 'failed', actions: 'noteMissing', description: 'a video is missing' },
          { target: 'synced' },
        ],
        FAILED: { target: 'failed', actions: 'noteError' },
        TIMED_OUT: { target: 'processing', description: 'imports looked at, or the job queued again' },
      },
    },
    synced: {
      meta: { due: 'the check interval, 1 hour', owner: 'its user requests all videos' },
      on: rests('synced'),
    },
    failed: {
      meta: { due: 'tried again after the check interval, 1 hour', owner: 'its user requests all videos' },
      on: rests('failed'),
    },
  },
})

/** Time in ms until the next check. */
export function dueIn(state: ChannelSyncState, { listed }: ChannelSyncContext, { check_interval }: ChannelSyncSettings): number | null {
  if (state !== 'processing') return check_interval
  return listed ? LOOK_AT_IMPORTS_EVERY : STALLED_AFTER
}
