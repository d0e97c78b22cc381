// A local video from its creation to its removal. A remote video shows the state that its origin reports, and has no machine.

import { assign, setup } from 'xstate'
import type { Snapshot, StateMeta } from './step.ts'

/** The contract's `VideoState`, by the names of the states. */
export const videoStateIds = {
  published: 1,
  'to-transcode': 2,
  'to-import': 3,
  'waiting-for-live': 4,
  'live-ended': 5,
  'to-move-to-external-storage': 6,
  'transcoding-failed': 7,
  'to-move-to-external-storage-failed': 8,
  'to-edit': 9,
  'to-move-to-file-system': 10,
  'to-move-to-file-system-failed': 11,
} as const

export type VideoState = 'none' | keyof typeof videoStateIds | 'removed'

export interface VideoContext {
  /** True: published when all renditions exist; false: at once, or with the first playable one. */
  waitTranscoding: boolean
  /** Playable renditions. */
  renditions: number
  /** Reason of the last failed transcoding, edit or move; null without one. */
  error: string | null
}

export interface VideoSettings {
  /** How often the sweeper ensures that a video has the job it waits for, in ms. */
  check_owner_every: number
}

export type VideoEvent =
  /** `isAwaited`: it cannot be played before its renditions exist. */
  | { type: 'ADDED'; source: 'upload'; isAwaited: boolean; waitTranscoding: boolean }
  | { type: 'ADDED'; source: 'import' | 'live'; waitTranscoding: boolean }
  /** The imported file is in the store. */
  | { type: 'IMPORTED'; isAwaited: boolean }
  /** One more rendition is playable. */
  | { type: 'RENDITION_STORED' }
  /** The whole ladder is playable. */
  | { type: 'TRANSCODED' }
  | { type: 'TRANSCODING_FAILED'; error: string }
  /** Renditions are made again from the existing files. */
  | { type: 'TRANSCODING_REQUESTED' }
  | { type: 'SOURCE_REPLACED'; isAwaited: boolean; waitTranscoding: boolean }
  | { type: 'EDIT_REQUESTED' }
  | { type: 'EDITED' }
  | { type: 'EDIT_FAILED'; error: string }
  | { type: 'MOVE_REQUESTED'; to: 'external-storage' | 'file-system' }
  | { type: 'MOVED' }
  | { type: 'MOVE_FAILED'; error: string }
  | { type: 'STREAM_STARTED' }
  /** `again`: a permanent live waits for its next stream. */
  | { type: 'STREAM_ENDED'; again: boolean }
  /** The recording of an ended live is in the store. */
  | { type: 'REPLAY_SAVED'; isAwaited: boolean }
  /** Its owner changed when it is published: the next rendition decides. */
  | { type: 'WAIT_CHANGED'; waitTranscoding: boolean }
  | { type: 'RETRIED' }
  | { type: 'REMOVED' }
  | { type: 'TIMED_OUT' }

export const initialVideo: Snapshot<VideoState, VideoContext> = {
  state: 'none',
  context: { waitTranscoding: false, renditions: 0, error: null },
}

const flow = setup({
  types: { context: {} as VideoContext, events: {} as VideoEvent, meta: {} as StateMeta },
  actions: {
    noteWait: assign({
      waitTranscoding: ({ context, event }) => ('waitTranscoding' in event ? event.waitTranscoding : context.waitTranscoding),
    }),
    noteError: assign({ error: ({ context, event }) => ('error' in event ? event.error : context.error) }),
    forgetError: assign({ error: null }),
    countRendition: assign({ renditions: ({ context }) => context.renditions + 1 }),
    dropRenditions: assign({ renditions: 0, error: null }),
  },
  guards: {
    awaitsRenditions: ({ event }) => 'isAwaited' in event && event.isAwaited,
  },
})

const REMOVED = { target: 'removed' } as const
const stored = [
  { guard: 'awaitsRenditions', target: 'to-transcode', actions: 'dropRenditions', description: 'renditions awaited' },
  { target: 'published', actions: 'dropRenditions', description: 'as it is' },
] as const
const owned = (owner: string) => ({ due: 'the sweeper makes sure that the job exists', owner })

export const videoMachine = flow.createMachine({
  id: 'video',
  context: initialVideo.context,
  initial: 'none',
  states: {
    none: {
      meta: { owner: 'an upload, an import or a live' },
      on: {
        ADDED: [
          {
            guard: ({ event }) => event.source === 'import',
            target: 'to-import',
            actions: 'noteWait',
            description: 'import',
          },
          {
            guard: ({ event }) => event.source === 'live',
            target: 'waiting-for-live',
            actions: 'noteWait',
            description: 'live',
          },
          {
            guard: 'awaitsRenditions',
            target: 'to-transcode',
            actions: 'noteWait',
            description: 'upload, renditions awaited',
          },
          { target: 'published', actions: 'noteWait', description: 'upload that plays' },
        ],
      },
    },
    'to-import': {
      meta: owned('the job video-import'),
      on: { IMPORTED: stored, REMOVED, TIMED_OUT: { target: 'to-import', description: 'job queued again' } },
    },
    'to-transcode': {
      meta: owned('the machine transcoding'),
      on: {
        RENDITION_STORED: [
          {
            guard: ({ context }) => context.waitTranscoding,
            target: 'to-transcode',
            actions: 'countRendition',
            description: 'the whole ladder is awaited',
          },
          { target: 'published', actions: 'countRendition', description: 'the first that plays' },
        ],
        TRANSCODED: { target: 'published', actions: 'forgetError' },
        TRANSCODING_FAILED: { target: 'transcoding-failed', actions: 'noteError' },
        TRANSCODING_REQUESTED: { target: 'to-transcode', actions: 'dropRenditions', description: 'begun anew' },
        WAIT_CHANGED: { target: 'to-transcode', actions: 'noteWait' },
        REMOVED,
        TIMED_OUT: { target: 'to-transcode', description: 'job queued again' },
      },
    },
    published: {
      meta: { owner: 'its owner' },
      on: {
        RENDITION_STORED: { target: 'published', actions: 'countRendition' },
        TRANSCODED: { target: 'published', actions: 'forgetError' },
        // A playable video stays public; the transcoding itself shows the failure and can be retried.
        TRANSCODING_FAILED: { target: 'published', actions: 'noteError' },
        // The old files play until the new ones replace them.
        TRANSCODING_REQUESTED: { target: 'published', actions: 'dropRenditions' },
        // The old files play until the first of the new ones exists.
        SOURCE_REPLACED: { target: 'published', actions: ['noteWait', 'dropRenditions'] },
        EDIT_REQUESTED: { target: 'to-edit' },
        MOVE_REQUESTED: [
          {
            guard: ({ event }) => event.to === 'external-storage',
            target: 'to-move-to-external-storage',
            description: 'external',
          },
          { target: 'to-move-to-file-system', description: 'file system' },
        ],
        STREAM_ENDED: [
          { guard: ({ event }) => event.again, target: 'waiting-for-live', description: 'permanent live' },
          { target: 'live-ended', description: 'single live' },
        ],
        REMOVED,
      },
    },
    'transcoding-failed': {
      meta: { owner: 'an admin or the owner retries, gives another file or removes it' },
      on: {
        RETRIED: { target: 'to-transcode', actions: 'dropRenditions' },
        SOURCE_REPLACED: [
          {
            guard: 'awaitsRenditions',
            target: 'to-transcode',
            actions: ['noteWait', 'dropRenditions'],
            description: 'renditions awaited',
          },
          { target: 'published', actions: ['noteWait', 'dropRenditions'], description: 'as it is' },
        ],
        REMOVED,
      },
    },
    'to-edit': {
      meta: owned('the job video-studio-edition'),
      on: {
        // As after SOURCE_REPLACED: the old files play until the first of the new ones exists.
        EDITED: { target: 'published', actions: 'dropRenditions' },
        EDIT_FAILED: { target: 'published', actions: 'noteError' },
        REMOVED,
        TIMED_OUT: { target: 'to-edit', description: 'job queued again' },
      },
    },
    'to-move-to-external-storage': {
      meta: owned('the job move-to-object-storage'),
      on: {
        MOVED: { target: 'published', actions: 'forgetError' },
        MOVE_FAILED: { target: 'to-move-to-external-storage-failed', actions: 'noteError' },
        REMOVED,
        TIMED_OUT: { target: 'to-move-to-external-storage', description: 'job queued again' },
      },
    },
    'to-move-to-external-storage-failed': {
      meta: { owner: 'an admin retries or removes it' },
      on: {
        RETRIED: { target: 'to-move-to-external-storage', actions: 'forgetError' },
        MOVE_REQUESTED: {
          guard: ({ event }) => event.to === 'file-system',
          target: 'to-move-to-file-system',
          actions: 'forgetError',
          description: 'back',
        },
        REMOVED,
      },
    },
    'to-move-to-file-system': {
      meta: owned('the job move-to-file-system'),
      on: {
        MOVED: { target: 'published', actions: 'forgetError' },
        MOVE_FAILED: { target: 'to-move-to-file-system-failed', actions: 'noteError' },
        REMOVED,
        TIMED_OUT: { target: 'to-move-to-file-system', description: 'job queued again' },
      },
    },
    'to-move-to-file-system-failed': {
      meta: { owner: 'an admin retries or removes it' },
      on: {
        RETRIED: { target: 'to-move-to-file-system', actions: 'forgetError' },
        MOVE_REQUESTED: {
          guard: ({ event }) => event.to === 'external-storage',
          target: 'to-move-to-external-storage',
          actions: 'forgetError',
          description: 'back',
        },
        REMOVED,
      },
    },
    'waiting-for-live': {
      meta: { owner: 'the owner starts to stream' },
      on: {
        STREAM_STARTED: { target: 'published' },
        STREAM_ENDED: [
          { guard: ({ event }) => event.again, target: 'waiting-for-live', description: 'permanent live' },
          { target: 'live-ended', description: 'single live that nobody could watch' },
        ],
        REMOVED,
      },
    },
    'live-ended': {
      meta: { owner: 'its replay, or its owner' },
      on: { REPLAY_SAVED: stored, REMOVED },
    },
    removed: { meta: { end: true } },
  },
})

/** Time in ms until the sweeper checks whether the awaited job exists; null if it waits for a person, or for nothing. */
export function dueIn(state: VideoState, _context: VideoContext, settings: VideoSettings): number | null {
  const withJob = ['to-import', 'to-transcode', 'to-edit', 'to-move-to-external-storage', 'to-move-to-file-system']
  return withJob.includes(state) ? settings.check_owner_every : null
}

/** The contract's `VideoState`, for REST clients and other servers; null before and after the video's life. */
export function stateId(state: VideoState): number | null {
  return state === 'none' || state === 'removed' ? null : videoStateIds[state]
}

/** The state of a number of the contract, as reported by another server; undefined for an unknown one. */
export function stateOf(id: number): VideoState | undefined {
  for (const state of Object.keys(videoStateIds) as Array<keyof typeof videoStateIds>) {
    if (videoStateIds[state] === id) return state
  }
  return undefined
}
