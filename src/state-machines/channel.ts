// A local channel: active, or removed while its content is being deleted.

import { setup } from 'xstate'
import type { Snapshot, StateMeta } from './step.ts'

export type ChannelState = 'active' | 'removed'
export type ChannelContext = Record<string, never>
/** By its owner or the staff. */
export type ChannelEvent = { type: 'REMOVED' }

export const initialChannel: Snapshot<ChannelState, ChannelContext> = { state: 'active', context: {} }

export const channelMachine = setup({
  types: { context: {} as ChannelContext, events: {} as ChannelEvent, meta: {} as StateMeta },
}).createMachine({
  id: 'channel',
  context: initialChannel.context,
  initial: 'active',
  states: {
    active: {
      meta: { owner: 'the owner, or the staff' },
      on: { REMOVED: { target: 'removed' } },
    },
    // The row is deleted by the job `channel-removal`, which is queued again until it is done. The name stays taken.
    removed: { meta: { end: true } },
  },
})
