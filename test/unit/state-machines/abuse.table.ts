// Every move of the machine `abuse`.

import { abuseMachine, initialAbuse } from '../../../src/state-machines/abuse.ts'
import { defineTable } from './table.ts'

const states = ['pending', 'accepted', 'rejected'] as const

export const table = defineTable({
  machine: abuseMachine,
  starts: ['pending'],
  context: initialAbuse.context,
  settings: null,
  rows: states.flatMap((from) => [
    { from, event: { type: 'ACCEPTED' }, to: 'accepted' } as const,
    { from, event: { type: 'REJECTED' }, to: 'rejected' } as const,
    { from, event: { type: 'REOPENED' }, to: 'pending' } as const,
  ]),
  dues: states.map((state) => ({ state, ms: null })),
})
