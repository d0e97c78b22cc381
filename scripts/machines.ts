// The lifecycles as data: loads every machine of src/state-machines, lists its transitions, and finds those that a table covers.

import { readdir } from 'node:fs/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { type AnyStateMachine, type EventObject, StateMachine } from 'xstate'
import type { StateMeta } from '../src/state-machines/step.ts'

/** A transition of a machine; `branch` counts the guarded alternatives of one event from 0. */
export interface Move {
  from: string
  event: string
  branch: number
  to: string
  description: string | undefined
}

/** The part of a test table that names the transition. */
export interface TriedRow {
  from: string
  context: unknown
  event: EventObject
}

const folder = new URL('../src/state-machines/', import.meta.url)

/** All machines by file name, sorted. Files that export no machine are helpers. */
export async function loadMachines(): Promise<Array<{ name: string; machine: AnyStateMachine }>> {
  const names = (await readdir(folder)).filter((file) => file.endsWith('.ts')).map((file) => file.replace(/\.ts$/, ''))
  const loaded = await Promise.all(
    names.sort().map(async (name) => {
      const url = new URL(`${name}.ts`, folder)
      const exported: Record<string, unknown> = await import(pathToFileURL(fileURLToPath(url)).href)
      const machines = Object.values(exported).filter((value) => value instanceof StateMachine)
      return machines.map((machine: AnyStateMachine) => ({ name, machine }))
    }),
  )
  return loaded.flat()
}

/** Every transition of the machine, in the order of its definition. */
export function movesOf(machine: AnyStateMachine): Move[] {
  return statesOf(machine).flatMap((from) =>
    definitionsOf(machine, from).flatMap(([event, branches]) =>
      branches.map((branch, index) => ({
        from,
        event,
        branch: index,
        to: branch.target?.[0]?.key ?? from,
        description: branch.description,
      })),
    ),
  )
}

export const statesOf = (machine: AnyStateMachine): string[] => Object.keys(machine.states)

export const metaOf = (machine: AnyStateMachine, state: string): StateMeta => machine.states[state]?.meta ?? {}

/** The transitions without a row in the table. */
export function untried(machine: AnyStateMachine, rows: readonly TriedRow[]): Move[] {
  const taken = new Set<unknown>()
  for (const row of rows) {
    const snapshot = machine.resolveState({ value: row.from, context: row.context })
    for (const definition of machine.getTransitionData(snapshot, row.event)) taken.add(definition)
  }
  return movesOf(machine).filter((move) => {
    const [, branches] = definitionsOf(machine, move.from).find(([event]) => event === move.event) ?? []
    return !taken.has(branches?.[move.branch])
  })
}

/** Errors of the definition: states without an exit, an owner or a name for their timeout. */
export function definitionFaults(machine: AnyStateMachine): string[] {
  const moves = movesOf(machine)
  return statesOf(machine).flatMap((state) => {
    const meta = metaOf(machine, state)
    const leaves = moves.some((move) => move.from === state && move.to !== state)
    const dueEvent = meta.dueEvent ?? 'TIMED_OUT'
    const timesOut = moves.some((move) => move.from === state && move.event === dueEvent)
    const faults: string[] = []
    if (!meta.end && !meta.due && !meta.owner) faults.push('names neither a timeout, nor an owner, nor an end')
    if (!meta.end && !leaves) faults.push('has no exit')
    if (Boolean(meta.due) !== timesOut) faults.push(`must name its time-out in \`due\` and take ${dueEvent}, or neither`)
    return faults.map((fault) => `${machine.id}: the state ${state} ${fault}`)
  })
}

function definitionsOf(machine: AnyStateMachine, state: string) {
  return [...(machine.states[state]?.transitions ?? [])]
}
