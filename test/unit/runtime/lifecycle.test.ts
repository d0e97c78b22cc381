// Lifecycles by their declarations: transitions, conflicts, due times, and their SQL.

import { describe, expect, it } from '@jest/globals'
import { assign, setup } from 'xstate'
import {
  advance,
  advanceRow,
  type DomainError,
  defineLifecycle,
  inBulk,
  initialColumns,
  jobLifecycle,
  next,
  takes,
  type Unit,
} from '../../../src/actors/runtime/index.ts'

type Event = { type: 'GO'; far: boolean } | { type: 'STOP'; why: string } | { type: 'COUNT' } | { type: 'LOOK' } | { type: 'TIMED_OUT' }
const context = { steps: 0, why: null as string | null }
const machine = setup({ types: { context: {} as typeof context, events: {} as Event } }).createMachine({
  id: 'walk',
  context,
  initial: 'home',
  states: {
    home: {
      on: {
        GO: [{ guard: ({ event }) => event.far, target: 'away' }, { target: 'home' }],
        STOP: { target: 'done', actions: assign({ why: ({ event }) => event.why }) },
        LOOK: { target: 'home' },
      },
    },
    away: {
      on: {
        COUNT: { target: 'away', actions: assign({ steps: ({ context }) => context.steps + 1 }) },
        STOP: { target: 'done', actions: assign({ why: ({ event }) => event.why, steps: 0 }) },
        TIMED_OUT: { target: 'home' },
      },
    },
    done: {},
  },
})
const walks = defineLifecycle({
  table: 'walk',
  machine,
  initial: { state: 'home' as const, context },
  dueIn: (state, _context, settings: { patience: number }) => (state === 'away' ? settings.patience : null),
})

const now = new Date('2026-01-01T00:00:00Z')
const patience = { patience: 60_000 }
const due = new Date(now.getTime() + 60_000)
const far = { type: 'GO', far: true } as const

function recording() {
  const statements: { text: string; values: unknown[] }[] = []
  const query = async (text: string, values: unknown[]) => {
    statements.push({ text, values })
    return [{ id: 7 }]
  }
  return { unit: { now, query } as unknown as Unit, statements }
}

describe('a transition', () => {
  it('returns state, context and due time, and whether something changed', () => {
    expect(next(walks, { state: 'home' }, far, now, patience)).toEqual({
      from: 'home',
      state: 'away',
      context,
      dueAt: due,
      changed: true,
    })
    expect(next(walks, { state: 'home' }, { type: 'LOOK' }, now, patience).changed).toBe(false)
  })

  it("that the machine refuses is a conflict, or the lifecycle's own error", () => {
    const refused = (lifecycle: typeof walks) => {
      try {
        next(lifecycle, { state: 'done' }, far, now, patience)
      } catch (error) {
        return error as DomainError
      }
      return undefined
    }
    expect(takes(walks, { state: 'done' }, far)).toBe(false)
    expect(refused(walks)).toMatchObject({ kind: 'conflict', message: 'This walk is done and cannot take this.' })
    const own = new Error('over') as DomainError
    expect(refused({ ...walks, refusal: () => own })).toBe(own)
  })

  it('of an entity sets its fields, and applies the effects of the new state', () => {
    const { unit } = recording()
    const entered: string[] = []
    const row = { state: 'home', context: {}, dueAt: null, updatedAt: new Date(0) }
    const lifecycle = { ...walks, entered: (_unit: Unit, { state }: { state: string }) => void entered.push(state) }
    advance(unit, lifecycle, row, far, patience)
    expect(row).toEqual({ state: 'away', context, dueAt: due, updatedAt: now })
    expect(entered).toEqual(['away'])
  })

  it('of a row is one statement with its other columns, and none without a change', async () => {
    const { unit, statements } = recording()
    const row = { id: 7, state: 'home', context: { steps: 3 }, dueAt: null }
    await advanceRow(unit, walks, row, far, { lastStep: 4 }, patience)
    await advanceRow(unit, walks, row, { type: 'LOOK' }, {}, patience)
    expect(statements).toEqual([
      {
        text: 'update walk set state = $1, context = $2, due_at = $3, updated_at = $4, last_step = $5 where id = $6 returning id',
        values: ['away', '{"steps":3,"why":null}', due, now, 4, 7],
      },
    ])
  })
})

it('a new row starts in the initial state, with its due time', () => {
  expect(initialColumns(walks, now, patience)).toEqual({ state: 'home', context, dueAt: null })
  const away = { ...walks, initial: { state: 'away' as const, context } }
  expect(initialColumns(away, now, patience)).toMatchObject({ state: 'away', dueAt: due })
})

describe('a bulk transition', () => {
  it('sets the target of each state that accepts the event', () => {
    expect(inBulk(walks, { type: 'STOP', why: "it's late" }, 'w')).toEqual({
      where: "w.state in ('home', 'away')",
      set: `state = 'done', context = case w.state when 'home' then w.context || '{"why":"it''s late"}' when 'away' then w.context || '{"steps":0,"why":"it''s late"}' end`,
    })
    expect(inBulk(walks, { type: 'TIMED_OUT' })).toEqual({ where: "walk.state = 'away'", set: "state = 'home'" })
  })

  it('is refused for an event that depends on the context', () => {
    expect(() => inBulk(walks, far)).toThrow('GO leads from home depends on the row')
    expect(() => inBulk(walks, { type: 'COUNT' })).toThrow()
  })

  it('supports a lifecycle with its context in columns', () => {
    expect(inBulk(jobLifecycle, { type: 'CLAIMED' })).toEqual({
      where: "job.state in ('waiting', 'delayed')",
      set: "state = 'active'",
    })
    expect(inBulk(jobLifecycle, { type: 'CANCELLED' }).set).toBe("state = 'cancelled', lease_owner = null, lease_until = null")
  })
})
