// A copy of a video on another server: a local copy of a remote video, from the plan to its end, or a remote copy of a local one.

import { assign, setup } from 'xstate'
import { type LeasedContext, type LeasedSettings, type LeaseOver, leasedWork, workerLost } from './leased-work.ts'
import type { Snapshot, StateMeta } from './step.ts'

export type RedundancyState = 'wanted' | 'downloading' | 'stored' | 'announced' | 'expiring' | 'removed' | 'failed'

/** Workers are counted since the copy was requested. */
export interface RedundancyContext extends LeasedContext {
  /** The holder of the copy. */
  by: 'us' | 'them'
  /** True if others were notified of it, and must be notified of its end. */
  told: boolean
  /** Lifetime of the copy from its last confirmation, in ms; null without an expiry. */
  lifetime: number | null
}

export interface RedundancySettings extends LeasedSettings {
  /** How long a failure stays visible, in ms. */
  keep_failed: number
}

export type RedundancyEvent =
  | { type: 'STARTED' }
  /** A heartbeat of the worker; the row's due time starts again. */
  | { type: 'RENEWED' }
  | { type: 'STORED' }
  /** The server of the video is being notified. */
  | { type: 'ANNOUNCED' }
  /** Its lifetime starts again. */
  | { type: 'EXTENDED'; lifetime: number | null }
  /** The original changed: the copy is made again. */
  | { type: 'OUTDATED' }
  | { type: 'FAILED'; error: string }
  | { type: 'RETRIED' }
  | { type: 'REMOVED' }
  /** Those concerned were notified, and the files are condemned. */
  | { type: 'CLEARED' }
  | LeaseOver<RedundancySettings>

const context: RedundancyContext = { by: 'us', told: false, lost: 0, lifetime: null, error: null }

/** A local copy to be made. */
export const initialRedundancy: Snapshot<RedundancyState, RedundancyContext> = { state: 'wanted', context }

/** A copy reported by another server. */
export const reportedRedundancy = (lifetime: number | null): Snapshot<RedundancyState, RedundancyContext> => ({
  state: 'announced',
  context: { ...context, by: 'them', lifetime },
})

const flow = setup({
  types: { context: {} as RedundancyContext, events: {} as RedundancyEvent, meta: {} as StateMeta },
  actions: {
    noteError: assign(leasedWork.noteError),
    countLoss: assign(leasedWork.countLoss),
    giveUp: assign(leasedWork.giveUp),
    startAnew: assign({ lost: 0, error: null }),
    extend: assign({
      lifetime: ({ context, event }) => (event.type === 'EXTENDED' ? event.lifetime : context.lifetime),
    }),
  },
  guards: {
    ...leasedWork.guards,
    lostTooOftenAndAnnounced: (args) => leasedWork.guards.lostTooOften(args) && args.context.told,
    told: ({ context }) => context.told,
    theirs: ({ context }) => context.by === 'them',
  },
})

const removed = { REMOVED: { target: 'expiring' } } as const
const [released, lostTooOften, lost] = workerLost('wanted', 'failed')
const lostAndAnnounced = {
  ...lostTooOften,
  guard: 'lostTooOftenAndAnnounced',
  target: 'expiring',
  description: 'lost too often, and announced',
} as const
const failed = [
  { guard: 'told', target: 'expiring', actions: 'noteError', description: 'others know of an older copy' },
  { target: 'failed', actions: 'noteError' },
] as const

export const redundancyMachine = flow.createMachine({
  id: 'redundancy',
  context,
  initial: 'wanted',
  states: {
    wanted: {
      meta: { due: 'the sweeper makes sure that there is a job', owner: 'the job video-redundancy' },
      on: {
        ...removed,
        STARTED: { target: 'downloading' },
        FAILED: failed,
        TIMED_OUT: { target: 'wanted', description: 'job queued again' },
      },
    },
    downloading: {
      meta: { due: 'the lease of the worker', owner: 'the job video-redundancy' },
      on: {
        ...removed,
        RENEWED: { target: 'downloading' },
        STORED: { target: 'stored', actions: 'startAnew' },
        FAILED: failed,
        TIMED_OUT: [released, lostAndAnnounced, lostTooOften, lost],
      },
    },
    stored: {
      meta: { due: 'announced again, if the first activity was lost', owner: 'the relay' },
      on: {
        ...removed,
        ANNOUNCED: { target: 'announced', actions: assign({ told: true }) },
        TIMED_OUT: { target: 'stored', description: 'announced again' },
      },
    },
    announced: {
      meta: { due: 'its life time, if it has one', owner: 'who holds it ends it; so does an admin' },
      on: {
        REMOVED: [{ guard: 'theirs', target: 'removed', description: 'of another server' }, { target: 'expiring' }],
        EXTENDED: { target: 'announced', actions: 'extend' },
        OUTDATED: { target: 'wanted', description: 'the original changed' },
        TIMED_OUT: [
          { guard: 'theirs', target: 'removed', description: 'of another server' },
          { target: 'expiring', description: 'life time over' },
        ],
      },
    },
    expiring: {
      meta: { due: 'the sweeper makes sure that it is cleared', owner: 'the job redundancy-removal' },
      on: {
        CLEARED: { target: 'removed' },
        TIMED_OUT: { target: 'expiring', description: 'asked for again' },
      },
    },
    removed: { meta: { end: true } },
    failed: {
      meta: { due: 'forgotten after a while', owner: 'an admin retries, or removes it' },
      on: {
        RETRIED: { target: 'wanted', actions: 'startAnew' },
        REMOVED: { target: 'removed' },
        TIMED_OUT: { target: 'removed', description: 'forgotten' },
      },
    },
  },
})

/** Time in ms until the next check; null if nothing is awaited. */
export function dueIn(state: RedundancyState, context: RedundancyContext, settings: RedundancySettings): number | null {
  if (state === 'announced') return context.lifetime
  if (state === 'failed') return settings.keep_failed
  if (state === 'stored' || state === 'expiring') return settings.check_owner_every
  return leasedWork.dueIn<RedundancyState>('wanted', 'downloading')(state, context, settings)
}
