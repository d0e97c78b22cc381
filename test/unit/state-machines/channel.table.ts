// Every move of the machine `channel`.

import { channelMachine, initialChannel } from '../../../src/state-machines/channel.ts'
import { defineTable } from './table.ts'

export const table = defineTable({
  machine: channelMachine,
  starts: ['active'],
  context: initialChannel.context,
  settings: {},
  rows: [{ from: 'active', event: { type: 'REMOVED' }, to: 'removed' }],
  dues: [
    { state: 'active', ms: null },
    { state: 'removed', ms: null },
  ],
})
