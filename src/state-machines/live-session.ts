// A stream of a live video, from its publisher's first connection until its recording is stored. A publisher who comes back within the
// reconnect window continues the same session as its next generation; events of earlier generations are refused.

import { assign, setup } from 'xstate'
import type { Snapshot, StateMeta } from './step.ts'

/** `LiveVideoError` of the contract. */
export const liveErrorIds = {
  'bad-socket-health': 1,
  'duration-exceeded': 2,
  'quota-exceeded': 3,
  'ffmpeg-error': 4,
  blocked: 5,
  'runner-job-error': 6,
  'runner-job-cancelled': 7,
  unknown: 8,
  'invalid-input': 9,
} as const

export type LiveError = keyof typeof liveErrorIds

export type LiveSessionState = 'waiting' | 'receiving' | 'publishing' | 'interrupted' | 'ending' | 'unsaved' | 'ended' | 'cleaned'

export interface LiveSessionContext {
  /** Counts the connections of the publisher, from 1. */
  generation: number
  error: LiveError | null
}

export interface LiveSessionSettings {
  /** Silence of the publisher after which the stream counts as lost, in ms. */
  no_data_timeout: number
  /** How long an interrupted stream waits for its publisher, in ms. */
  reconnect_window: number
  /** How often the sweeper ensures that an ending session has its job, in ms. */
  check_owner_every: number
  /** How long a recording that cannot be stored waits until it is tried again, in ms. */
  retry_replay_after: number
  /** How long the pieces stay after the end, for players that lag behind, in ms. */
  cleanup_delay: number
}

type OfGeneration = { generation: number }

export type LiveSessionEvent =
  /** A publisher with the right key was accepted. */
  | { type: 'ACCEPTED' }
  /** A piece was stored, so the publisher still sends. */
  | ({ type: 'PIECE_STORED' } & OfGeneration)
  /** The connection ended without a word of the publisher. */
  | ({ type: 'LOST' } & OfGeneration)
  /** The publisher ended the stream. */
  | ({ type: 'FINISHED' } & OfGeneration)
  /** The stream cannot be used, or exceeds a limit. */
  | ({ type: 'FAILED'; error: LiveError } & OfGeneration)
  /** By the server: the video is blocked or removed, or lives were disabled. */
  | { type: 'STOPPED'; error: LiveError | null }
  /** The recording is stored, or there is none. */
  | { type: 'SAVED' }
  /** The recording cannot be stored now. Its pieces stay. */
  | { type: 'SAVE_FAILED' }
  | { type: 'TIMED_OUT' }

export const initialLiveSession: Snapshot<LiveSessionState, LiveSessionContext> = {
  state: 'waiting',
  context: { generation: 0, error: null },
}

const flow = setup({
  types: { context: {} as LiveSessionContext, events: {} as LiveSessionEvent, meta: {} as StateMeta },
  actions: {
    beginGeneration: assign({ generation: ({ context }) => context.generation + 1 }),
    noteError: assign({ error: ({ context, event }) => ('error' in event ? event.error : context.error) }),
    noteSilence: assign({ error: 'bad-socket-health' }),
  },
  guards: {
    isCurrent: ({ context, event }) => 'generation' in event && event.generation === context.generation,
  },
})

/** Only of the present generation: another connection may have replaced the one that reports. */
const current = <const T extends object>(transition: T) => ({ guard: 'isCurrent', ...transition }) as const
const stopped = { target: 'ending', actions: 'noteError' } as const

export const liveSessionMachine = flow.createMachine({
  id: 'live-session',
  context: initialLiveSession.context,
  initial: 'waiting',
  states: {
    waiting: {
      meta: { owner: 'the publisher connects' },
      on: { ACCEPTED: { target: 'receiving', actions: 'beginGeneration' } },
    },
    receiving: {
      meta: { due: 'the publisher sends nothing that can be shown', owner: 'the process that receives the stream' },
      on: {
        PIECE_STORED: current({ target: 'publishing' }),
        LOST: current({ target: 'ended', actions: 'noteSilence' }),
        FINISHED: current({ target: 'ended' }),
        FAILED: current({ target: 'ended', actions: 'noteError' }),
        STOPPED: { target: 'ended', actions: 'noteError' },
        TIMED_OUT: { target: 'ended', actions: 'noteSilence' },
      },
    },
    publishing: {
      meta: { due: 'the publisher is silent', owner: 'the process that receives the stream' },
      on: {
        PIECE_STORED: current({ target: 'publishing' }),
        LOST: current({ target: 'interrupted' }),
        FINISHED: current({ target: 'ending' }),
        FAILED: current(stopped),
        STOPPED: stopped,
        TIMED_OUT: { target: 'interrupted' },
      },
    },
    interrupted: {
      meta: { due: 'the publisher did not come back', owner: 'the publisher reconnects' },
      on: {
        ACCEPTED: { target: 'publishing', actions: 'beginGeneration' },
        // Its receiver could not report for a while, but never lost the publisher.
        PIECE_STORED: current({ target: 'publishing' }),
        FINISHED: current({ target: 'ending' }),
        FAILED: current(stopped),
        STOPPED: stopped,
        TIMED_OUT: { target: 'ending' },
      },
    },
    ending: {
      meta: { due: 'the sweeper makes sure that the job exists', owner: 'the job video-live-ending' },
      on: {
        SAVED: { target: 'ended' },
        SAVE_FAILED: { target: 'unsaved' },
        TIMED_OUT: { target: 'ending', description: 'job queued again' },
      },
    },
    unsaved: {
      meta: { due: 'the recording is tried again', owner: 'an administrator frees space or repairs ffmpeg' },
      on: { TIMED_OUT: { target: 'ending' } },
    },
    ended: {
      meta: { due: 'players have read the last pieces' },
      on: { TIMED_OUT: { target: 'cleaned', description: 'its pieces are removed' } },
    },
    cleaned: { meta: { end: true } },
  },
})

/** Time in ms until the publisher counts as silent or gone, or the job is checked; null if nothing is awaited. */
export function dueIn(state: LiveSessionState, _context: LiveSessionContext, settings: LiveSessionSettings): number | null {
  switch (state) {
    case 'receiving':
    case 'publishing':
      return settings.no_data_timeout
    case 'interrupted':
      return settings.reconnect_window
    case 'ending':
      return settings.check_owner_every
    case 'unsaved':
      return settings.retry_replay_after
    case 'ended':
      return settings.cleanup_delay
    default:
      return null
  }
}
