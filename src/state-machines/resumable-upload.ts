// A file that arrives in chunks, each at the offset where the last one ended.

import { assign, setup } from 'xstate'
import type { Snapshot, StateMeta } from './step.ts'

export type ResumableUploadState = 'created' | 'receiving' | 'assembled' | 'finished' | 'refused' | 'cancelled' | 'expired'

export interface ResumableUploadContext {
  /** The declared length of the file, in bytes; more than 0. For a form it is an upper bound until its file has ended. */
  size: number
  /** Contiguous bytes stored from the beginning. */
  received: number
}

/** From `vireo.uploads` of the configuration. */
export interface ResumableUploadSettings {
  /** How long an upload may be silent, in ms. */
  session_lifetime: number
}

export type ResumableUploadEvent =
  /** `bytes` from the offset `from` were stored. A chunk that does not begin at `received`, or overflows, changes nothing. */
  | { type: 'CHUNK_STORED'; from: number; bytes: number }
  /** The client asked for the offset, such as while somebody types the details. */
  | { type: 'ASKED' }
  /** The file of a form is complete; its size is what was received, since forms do not declare the length of their files. */
  | { type: 'ENDED' }
  /** The result of the upload exists now. */
  | { type: 'FINISHED' }
  /** The complete file cannot be used. */
  | { type: 'REFUSED' }
  | { type: 'CANCELLED' }
  | { type: 'TIMED_OUT' }

/** A new upload of `size` bytes. */
export function initialResumableUpload(size: number): Snapshot<ResumableUploadState, ResumableUploadContext> {
  return { state: 'created', context: { size, received: 0 } }
}

const flow = setup({
  types: { context: {} as ResumableUploadContext, events: {} as ResumableUploadEvent, meta: {} as StateMeta },
  actions: {
    keep: assign({
      received: ({ context, event }) => context.received + (event.type === 'CHUNK_STORED' ? event.bytes : 0),
    }),
    keepSize: assign({ size: ({ context }) => context.received }),
  },
  guards: {
    completes: ({ context, event }) =>
      event.type === 'CHUNK_STORED' && event.bytes > 0 && event.from === context.received && event.from + event.bytes === context.size,
    continues: ({ context, event }) =>
      event.type === 'CHUNK_STORED' && event.bytes > 0 && event.from === context.received && event.from + event.bytes < context.size,
  },
})

const silence = '1 day of silence'

export const resumableUploadMachine = flow.createMachine({
  id: 'resumable-upload',
  context: initialResumableUpload(0).context,
  initial: 'created',
  states: {
    created: {
      meta: { due: silence, owner: 'the client sends the first chunk' },
      on: {
        CHUNK_STORED: [
          { guard: 'completes', target: 'assembled', actions: 'keep', description: 'the only chunk' },
          { guard: 'continues', target: 'receiving', actions: 'keep', description: 'the first chunk' },
          { target: 'created', description: 'wrong offset' },
        ],
        ASKED: { target: 'created' },
        CANCELLED: { target: 'cancelled' },
        TIMED_OUT: { target: 'expired' },
      },
    },
    receiving: {
      meta: { due: silence, owner: 'the client sends the next chunk' },
      on: {
        CHUNK_STORED: [
          { guard: 'completes', target: 'assembled', actions: 'keep', description: 'the last chunk' },
          { guard: 'continues', target: 'receiving', actions: 'keep', description: 'the next chunk' },
          { target: 'receiving', description: 'wrong offset' },
        ],
        ASKED: { target: 'receiving' },
        ENDED: { target: 'assembled', actions: 'keepSize', description: 'the end of a form' },
        CANCELLED: { target: 'cancelled' },
        TIMED_OUT: { target: 'expired' },
      },
    },
    assembled: {
      meta: {
        due: silence,
        owner: 'the request of the last chunk, or the client that asks (of an archive: sends) again',
      },
      on: {
        ASKED: { target: 'assembled' },
        FINISHED: { target: 'finished' },
        REFUSED: { target: 'refused' },
        CANCELLED: { target: 'cancelled' },
        TIMED_OUT: { target: 'expired' },
      },
    },
    finished: { meta: { end: true } },
    refused: { meta: { end: true } },
    cancelled: { meta: { end: true }, on: { CANCELLED: { target: 'cancelled' } } },
    expired: { meta: { end: true } },
  },
})

/** Time in ms until a silent upload expires, counted from its last chunk or status query; null if it has ended. */
export function dueIn(state: ResumableUploadState, _context: ResumableUploadContext, settings: ResumableUploadSettings): number | null {
  return state === 'created' || state === 'receiving' || state === 'assembled' ? settings.session_lifetime : null
}
