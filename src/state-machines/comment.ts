// A comment: pending review, visible, or removed. A removed one keeps its place in the thread.

import { setup } from 'xstate'
import type { StateMeta } from './step.ts'

export type CommentState = 'held' | 'shown' | 'removed'
export type CommentContext = Record<string, never>

export type CommentEvent =
  /** By the owner of the video, here or on its server. */
  | { type: 'APPROVED' }
  /** By its author; `held` if the owner of the video must review the new text first. */
  | { type: 'EDITED'; held: boolean }
  /** By its author, the owner of the video or the staff. */
  | { type: 'REMOVED' }

const flow = setup({
  types: { context: {} as CommentContext, events: {} as CommentEvent, meta: {} as StateMeta },
  guards: { isHeldAgain: ({ event }) => event.type === 'EDITED' && event.held },
})

export const commentMachine = flow.createMachine({
  id: 'comment',
  context: {},
  initial: 'shown',
  states: {
    held: {
      meta: { owner: 'the owner of the video, who approves or removes it; its author, who removes it' },
      on: {
        APPROVED: { target: 'shown' },
        EDITED: { target: 'held' },
        REMOVED: { target: 'removed' },
      },
    },
    shown: {
      meta: { owner: 'its author, the owner of the video or the staff, who remove it' },
      on: {
        EDITED: [
          { target: 'held', guard: 'isHeldAgain', description: 'the owner of the video must review the new text' },
          { target: 'shown' },
        ],
        REMOVED: { target: 'removed' },
      },
    },
    removed: { meta: { end: true } },
  },
})
