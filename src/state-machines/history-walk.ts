// The walk over the outbox of a followed actor: its whole history at first, new items periodically.

import { assign, setup } from 'xstate'
import { type BackOff, backOff } from './back-off.ts'
import type { Snapshot, StateMeta } from './step.ts'

export type HistoryWalkState = 'waiting' | 'walking' | 'retrying' | 'incomplete' | 'done' | 'failed' | 'stopped'

export interface HistoryWalkContext {
  /** `whole`: every page; `newest`: from the newest to the first known item. */
  extent: 'whole' | 'newest'
  /** Failures since the last successful page. */
  tries: number
  /** How often the deferred items have been retried. */
  rounds: number
  /** True if retrying the same page cannot help after the last failure. */
  hopeless: boolean
}

/** From `vireo.federation.backfill` of the configuration. */
export interface HistoryWalkSettings extends BackOff {
  attempts: number
  /** Time until the outbox is checked again, in ms. */
  look_again: number
}

export type HistoryWalkEvent =
  /** The actor is followed by its first local follower. */
  | { type: 'ASKED' }
  /** A job started or resumed the walk. */
  | { type: 'STARTED' }
  /** A page was read, and the position of the next one stored. */
  | { type: 'PAGE_READ' }
  /** There are no more pages; `aside` items are deferred. */
  | { type: 'FINISHED'; aside: number; settings: HistoryWalkSettings }
  | { type: 'FAILED'; hopeless: boolean; settings: HistoryWalkSettings }
  /** No local actor follows it any more. */
  | { type: 'STOPPED' }
  | { type: 'TIMED_OUT' }

export const initialHistoryWalk: Snapshot<HistoryWalkState, HistoryWalkContext> = {
  state: 'waiting',
  context: { extent: 'whole', tries: 0, rounds: 0, hopeless: false },
}

/** A job that neither ends nor reads a page for this long is queued again, in ms. */
const STALLED_AFTER_MS = 3_600_000

const flow = setup({
  types: { context: {} as HistoryWalkContext, events: {} as HistoryWalkEvent, meta: {} as StateMeta },
  actions: {
    startAnew: assign(initialHistoryWalk.context),
    lookAgain: assign({ ...initialHistoryWalk.context, extent: 'newest' }),
    forgetTries: assign({ tries: 0, hopeless: false }),
    countTry: assign(({ context, event }) =>
      event.type === 'FAILED' ? { ...context, tries: context.tries + 1, hopeless: event.hopeless } : context,
    ),
    countRound: assign({ rounds: ({ context }) => context.rounds + 1 }),
  },
  guards: {
    lastTry: ({ context, event }) => event.type === 'FAILED' && (event.hopeless || context.tries + 1 >= event.settings.attempts),
    leavesItems: ({ context, event }) => event.type === 'FINISHED' && event.aside > 0 && context.rounds + 1 < event.settings.attempts,
    wasHopeless: ({ context }) => context.hopeless,
  },
})

const stops = { STOPPED: { target: 'stopped' } } as const

export const historyWalkMachine = flow.createMachine({
  id: 'history-walk',
  context: initialHistoryWalk.context,
  initial: 'waiting',
  states: {
    waiting: {
      meta: { due: 'its job is queued again after an hour, if it was lost', owner: 'its job' },
      on: {
        ...stops,
        ASKED: { target: 'waiting' },
        STARTED: { target: 'walking' },
        TIMED_OUT: { target: 'waiting', description: 'job queued again' },
      },
    },
    walking: {
      meta: { due: 'its job is queued again after an hour without a page', owner: 'its job' },
      on: {
        ...stops,
        ASKED: { target: 'walking' },
        STARTED: { target: 'walking', description: 'taken up by another process' },
        PAGE_READ: { target: 'walking', actions: 'forgetTries' },
        FINISHED: [
          { guard: 'leavesItems', target: 'incomplete', actions: 'countRound', description: 'items were put aside' },
          { target: 'done', actions: 'forgetTries' },
        ],
        FAILED: [
          { guard: 'lastTry', target: 'failed', actions: 'countTry', description: 'unreadable, or the last try' },
          { target: 'retrying', actions: 'countTry', description: 'before that' },
        ],
        TIMED_OUT: { target: 'walking', description: 'job queued again' },
      },
    },
    retrying: {
      meta: { due: 'back-off, 10 tries of a page' },
      on: { ...stops, ASKED: { target: 'waiting', actions: 'startAnew' }, TIMED_OUT: { target: 'waiting' } },
    },
    incomplete: {
      meta: { due: 'back-off, 10 tries of the items that were put aside' },
      on: { ...stops, ASKED: { target: 'waiting', actions: 'startAnew' }, TIMED_OUT: { target: 'waiting' } },
    },
    done: {
      meta: { due: 'the newest pages are read after a day' },
      on: {
        ...stops,
        ASKED: { target: 'waiting', actions: 'startAnew' },
        TIMED_OUT: { target: 'waiting', actions: 'lookAgain' },
      },
    },
    failed: {
      meta: { due: 'tried again after a day' },
      on: {
        ...stops,
        ASKED: { target: 'waiting', actions: 'startAnew' },
        TIMED_OUT: [
          { guard: 'wasHopeless', target: 'waiting', actions: 'lookAgain', description: 'from the newest page' },
          { target: 'waiting', actions: 'forgetTries', description: 'from where it failed' },
        ],
      },
    },
    stopped: {
      meta: { end: true },
      on: { ASKED: { target: 'waiting', actions: 'startAnew' }, STOPPED: { target: 'stopped' } },
    },
  },
})

/** Time in ms until the next timeout; null without one. */
export function dueIn(state: HistoryWalkState, context: HistoryWalkContext, settings: HistoryWalkSettings): number | null {
  switch (state) {
    case 'waiting':
    case 'walking':
      return STALLED_AFTER_MS
    case 'retrying':
      return backOff(settings, context.tries)
    case 'incomplete':
      return backOff(settings, context.rounds)
    case 'done':
    case 'failed':
      return settings.look_again
    case 'stopped':
      return null
  }
}
