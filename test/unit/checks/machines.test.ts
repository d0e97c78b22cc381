// Faults of machines that `npm run check` detects.

import { describe, expect, it } from '@jest/globals'
import { assign, setup } from 'xstate'
import { definitionFaults, loadMachines, movesOf, untried } from '../../../scripts/machines.ts'
import type { StateMeta } from '../../../src/state-machines/step.ts'

const { createMachine } = setup({
  types: {
    context: {} as { n: number },
    events: {} as { type: 'GO'; far?: boolean } | { type: 'TIMED_OUT' },
    meta: {} as StateMeta,
  },
})

const machine = createMachine({
  id: 'walk',
  context: { n: 0 },
  initial: 'home',
  states: {
    home: {
      meta: { owner: 'the walker' },
      on: {
        GO: [
          { guard: ({ event }) => event.far === true, target: 'far', description: 'far' },
          { target: 'home', actions: assign({ n: ({ context }) => context.n + 1 }), description: 'round the house' },
        ],
      },
    },
    far: { meta: { due: 'tired' }, on: { TIMED_OUT: { target: 'home' } } },
  },
})

describe('untried', () => {
  it('names each transition without a row, including branches of one event', () => {
    const rows = [{ from: 'home', context: { n: 0 }, event: { type: 'GO' } }]
    expect(untried(machine, rows).map(({ from, event, to }) => [from, event, to])).toEqual([
      ['home', 'GO', 'far'],
      ['far', 'TIMED_OUT', 'home'],
    ])
  })

  it('is empty when every transition has a row', () => {
    const rows = [
      { from: 'home', context: { n: 0 }, event: { type: 'GO' } },
      { from: 'home', context: { n: 0 }, event: { type: 'GO', far: true } },
      { from: 'far', context: { n: 0 }, event: { type: 'TIMED_OUT' } },
    ]
    expect(untried(machine, rows)).toEqual([])
  })
})

describe('definitionFaults', () => {
  it('finds nothing in a complete machine', () => {
    expect(definitionFaults(machine)).toEqual([])
  })

  it('finds states without an exit, without an owner, and with an incomplete timeout', () => {
    const broken = createMachine({
      id: 'broken',
      context: { n: 0 },
      initial: 'a',
      states: {
        a: { on: { GO: { target: 'b' } } },
        b: { meta: { owner: 'nobody who could' }, on: { GO: { target: 'b' } } },
        c: { meta: { due: 'soon' }, on: { GO: { target: 'a' } } },
        d: { meta: { owner: 'somebody' }, on: { TIMED_OUT: { target: 'a' } } },
      },
    })
    expect(definitionFaults(broken)).toEqual([
      'broken: the state a names neither a timeout, nor an owner, nor an end',
      'broken: the state b has no exit',
      'broken: the state c must name its time-out in `due` and take TIMED_OUT, or neither',
      'broken: the state d must name its time-out in `due` and take TIMED_OUT, or neither',
    ])
  })
})

describe('loadMachines', () => {
  it('finds every machine by the name of its file', async () => {
    const machines = await loadMachines()
    expect(machines.map(({ name }) => name)).toEqual([...machines.map(({ machine: found }) => found.id)].sort())
    expect(machines.every(({ machine: found }) => movesOf(found).length > 0)).toBe(true)
  })

  it('finds that no machine uses `after` or `invoke`, which nothing would fire', async () => {
    for (const { machine: found } of await loadMachines()) {
      for (const state of Object.values(found.states)) {
        expect([state.after, state.invoke, state.always ?? []]).toEqual([[], [], []])
      }
    }
  })
})
