// Tests of every machine, from its table: transitions, refusals, due times, exits, and random walks.

import { describe, expect, it } from '@jest/globals'
import type { AnyStateMachine, EventObject } from 'xstate'
import { definitionFaults, metaOf, statesOf, untried } from '../../../scripts/machines.ts'
import { can, IllegalMove, step } from '../../../src/state-machines/step.ts'
import { type Table, triedRows } from './table.ts'

const SEEDS = 40
const STEPS = 60

export function describeMachine(table: Table): void {
  const { machine, rows, context, settings, dueIn = never } = table

  describe(`the machine ${machine.id}`, () => {
    it.each(rows.map((row) => [row.from, row.event.type, row.to, row] as const))('%s + %s → %s', (...[, , , row]) => {
      const from = { state: row.from, context: { ...context, ...row.with } }
      if (row.to === 'illegal') {
        expect(() => step(machine, from, row.event)).toThrow(new IllegalMove(machine.id, row.from, row.event.type))
        return
      }
      const expected = { ...from.context, ...row.gives }
      const changed = row.to !== row.from || !same(expected, from.context)
      expect(step(machine, from, row.event)).toEqual({ state: row.to, context: expected, changed })
    })

    it('refuses every event without a row in its table', () => {
      for (const state of statesOf(machine)) {
        for (const event of sampleEvents(table)) {
          if (rows.some((row) => row.from === state && row.event.type === event.type)) continue
          expect(() => step(machine, { state, context }, event)).toThrow(IllegalMove)
        }
      }
    })

    it('has a row for each of its transitions', () => {
      expect(untried(machine, triedRows(table))).toEqual([])
    })

    it('has no state without an exit, an owner or an end', () => {
      expect(definitionFaults(machine)).toEqual([])
    })

    it.each(table.dues.map((due) => [due.state, due.ms, due] as const))('%s is due in %s ms', (state, ms, due) => {
      expect(dueIn(state, { ...context, ...due.with }, settings)).toBe(ms)
    })

    it('has a due time exactly in the states whose definition has a timeout', () => {
      for (const state of statesOf(machine)) {
        const told = table.dues.filter((due) => due.state === state)
        expect({ state, told: told.length > 0 }).toEqual({ state, told: true })
        expect({ state, due: told.some((due) => due.ms !== null) }).toEqual({
          state,
          due: metaOf(machine, state).due !== undefined,
        })
      }
    })

    it('reaches every declared state from its initial ones', () => {
      expect([...reached(table)].sort()).toEqual(statesOf(machine).sort())
    })

    it('never reaches an undeclared state, nor a wait without a timeout, by random events', () => {
      for (let seed = 1; seed <= SEEDS; seed++) walk(table, seed)
    })
  })
}

function walk(table: Table, seed: number): void {
  const { machine, settings, dueIn = never } = table
  const random = seededRandom(seed)
  const events = sampleEvents(table)
  const states = new Set(statesOf(machine))
  const contextKeys = Object.keys(table.context).sort()
  let at = { state: pick(table.starts, random), context: table.context }
  for (let n = 0; n < STEPS; n++) {
    const event = pick(events, random)
    if (!can(machine, at, event)) {
      const before = at
      expect(() => step(machine, before, event)).toThrow(IllegalMove)
      continue
    }
    at = step(machine, at, event)
    expect(states.has(at.state)).toBe(true)
    expect(Object.keys(at.context).sort()).toEqual(contextKeys)
    const due = dueIn(at.state, at.context, settings)
    if (due === null) continue
    expect(Number.isFinite(due) && due >= 0).toBe(true)
    const dueEvent = metaOf(machine, at.state).dueEvent ?? 'TIMED_OUT'
    const timeOuts = events.filter((candidate) => candidate.type === dueEvent)
    const waiting = at
    expect(timeOuts.some((timeOut) => can(machine, waiting, timeOut))).toBe(true)
  }
}

function reached(table: Table): Set<string> {
  const seen = new Set<string>(table.starts)
  for (const state of seen) {
    for (const row of table.rows) if (row.from === state && row.to !== 'illegal') seen.add(row.to)
  }
  return seen
}

function sampleEvents(table: Table): Array<EventObject & Parameters<typeof step<AnyStateMachine>>[2]> {
  return [...new Map(table.rows.map((row) => [JSON.stringify(row.event), row.event])).values()]
}

const never = (): null => null

const pick = <T>(items: readonly T[], random: () => number): T => {
  const item = items[Math.floor(random() * items.length)]
  if (item === undefined) throw new Error('Nothing to pick from')
  return item
}

/** Mulberry32: the same walk for the same seed. */
function seededRandom(seed: number): () => number {
  let a = seed
  return () => {
    a = (a + 0x6d2b79f5) | 0
    let t = Math.imul(a ^ (a >>> 15), 1 | a)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

function same(a: Record<string, unknown>, b: Record<string, unknown>): boolean {
  return Object.keys(a).every((key) => a[key] === b[key])
}
