// Every move of the machine `remote-actor`.

import { initialRemoteActor, remoteActorMachine } from '../../../src/state-machines/remote-actor.ts'
import { defineTable } from './table.ts'

export const table = defineTable({
  machine: remoteActorMachine,
  starts: ['known'],
  context: initialRemoteActor.context,
  settings: {},
  rows: [
    { from: 'known', event: { type: 'GONE' }, to: 'leaving' },
    { from: 'leaving', event: { type: 'EMPTIED' }, to: 'left' },
    { from: 'left', event: { type: 'MET' }, to: 'known' },
  ],
  dues: [
    { state: 'known', ms: null },
    { state: 'leaving', ms: null },
    { state: 'left', ms: null },
  ],
})
