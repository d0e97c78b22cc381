// Lifecycles: the one place where a row moves through its machine and its state is written. A noun declares its lifecycle once; moves, due
// times, refusals and the SQL of bulk moves derive from the declaration.

import type { Sql } from '../../platform/database/index.ts'
import {
  type ContextOf,
  can,
  type EventOf,
  IllegalMove,
  type Machine,
  type Snapshot,
  type StateOf,
  step,
} from '../../state-machines/step.ts'
import { DomainError } from './domain-error.ts'
import type { Unit } from './unit.ts'

/** How often the sweeper ensures that a waiting row has its job, in ms. */
export const CHECK_OWNER_EVERY = 60_000

type Columns = Record<string, unknown>

/** The usual columns: the state as text, the context as JSON. */
export interface Stored {
  state: string
  context?: object
}

interface Declaration<M extends Machine, S, R> {
  table: string
  machine: M
  initial: Snapshot<StateOf<M>, ContextOf<M>>
  /** The name of the row in refusals. */
  called?: string
  /** The refusal of an event that the machine does not take; by default a `conflict` with the state and `called`. */
  refusal?: (state: StateOf<M>, event: EventOf<M>) => DomainError
  /** Timeouts of the machine; omitted if it has none. */
  dueIn?: (state: StateOf<M>, context: ContextOf<M>, settings: S) => number | null
  /** When a wait ends, in ms since the epoch; by default counted from now. */
  endOfWait?: (wait: number, move: { now: number; state: StateOf<M>; context: ContextOf<M>; row: R }) => number
  /** Reads the snapshot of a row that is not `Stored`. */
  read?: (row: R) => Snapshot<StateOf<M>, ContextOf<M>>
  /** Columns of the snapshot, by field name, if they are not `state` and `context`. */
  columns?: (snapshot: Snapshot<StateOf<M>, ContextOf<M>>, now: Date) => Columns
  /** False for a table without `updated_at`, or if that column covers other changes. */
  touches?: false
  /** For a due time that is never null: without a timeout it stays as it was. */
  keepsDueAt?: true
  /** What the new state needs: jobs, events, the deletion of the row. Called after every move by `advance`. */
  entered?: (unit: Unit, row: R, move: Move<M>) => void
}

export type Lifecycle<M extends Machine = Machine, S = undefined, R = Stored> = Readonly<
  Omit<Declaration<M, S, R>, 'read' | 'columns'> & Required<Pick<Declaration<M, S, R>, 'read' | 'columns'>>
>

/** The settings of `dueIn`, if it has any. */
type Given<S> = [S] extends [undefined] ? [] : [settings: S]

export interface Move<M extends Machine> extends Snapshot<StateOf<M>, ContextOf<M>> {
  from: StateOf<M>
  dueAt: Date | null
  /** False if state and context are unchanged. */
  changed: boolean
}

export function defineLifecycle<M extends Machine, S = undefined, R = Stored>(declaration: Declaration<M, S, R>): Lifecycle<M, S, R> {
  const { initial } = declaration
  return {
    read: (row) => {
      const { state, context } = row as Stored
      return { state: state as StateOf<M>, context: Object.assign({}, initial.context, context) }
    },
    columns: ({ state, context }) => ({ state, ...(Object.keys(initial.context).length > 0 ? { context } : {}) }),
    ...declaration,
  }
}

/** The machine's context in a row. */
export const contextOf = <M extends Machine, S, R>(lifecycle: Lifecycle<M, S, R>, row: R): ContextOf<M> => lifecycle.read(row).context

/** True if the machine takes the event now. */
export const takes = <M extends Machine, S, R>(lifecycle: Lifecycle<M, S, R>, row: R, event: EventOf<M>): boolean =>
  can(lifecycle.machine, lifecycle.read(row), event)

/** Computes a move for callers that store several together. Throws the lifecycle's refusal if the machine does not take the event. */
export function next<M extends Machine, S, R>(
  lifecycle: Lifecycle<M, S, R>,
  row: R,
  event: EventOf<M>,
  now: Date,
  ...given: Given<S>
): Move<M> {
  const from = lifecycle.read(row)
  try {
    const after = step(lifecycle.machine, from, event)
    const wait = waitOf(lifecycle, after, given)
    const at = now.getTime()
    const end = wait === null ? null : (lifecycle.endOfWait?.(wait, { ...after, now: at, row }) ?? at + wait)
    return { ...after, from: from.state, dueAt: end === null ? null : new Date(end) }
  } catch (error) {
    if (!(error instanceof IllegalMove)) throw error
    if (lifecycle.refusal) throw lifecycle.refusal(from.state, event)
    const called = lifecycle.called ?? lifecycle.table.replaceAll('_', ' ')
    throw new DomainError('conflict', `This ${called} is ${from.state} and cannot take this.`, { cause: error })
  }
}

/** Moves a locked entity, which its unit stores, or a row in memory that `storeRow` stores. Throws like `next`. */
export function advance<M extends Machine, S, R extends object>(
  unit: Unit,
  lifecycle: Lifecycle<M, S, R>,
  row: R,
  event: EventOf<M>,
  ...given: Given<S>
): Move<M> {
  const move = next(lifecycle, row, event, unit.now, ...given)
  if (move.changed || lifecycle.dueIn) Object.assign(row, columnsOf(lifecycle, move, unit.now))
  lifecycle.entered?.(unit, row, move)
  return move
}

/** Moves a locked row by one statement, with other columns (`also`) by field name. Throws like `next`. */
export async function advanceRow<M extends Machine, S, R extends { id: number }>(
  unit: Unit,
  lifecycle: Lifecycle<M, S, R>,
  row: R,
  event: EventOf<M>,
  also: Columns | ((move: Move<M>) => Columns),
  ...given: Given<S>
): Promise<Move<M>> {
  const move = next(lifecycle, row, event, unit.now, ...given)
  const others = typeof also === 'function' ? also(move) : also
  if (isIdle(lifecycle, row, move) && Object.keys(others).length === 0) return move
  await update(unit.query, lifecycle.table, { ...columnsOf(lifecycle, move, unit.now), ...others }, { id: row.id })
  return move
}

/** Stores a move of an unlocked row, with other columns; false if the row has another state by now, or does not match `where`. */
export async function storeMove<M extends Machine, S, R>(
  { query, now }: { query: Sql; now: Date },
  lifecycle: Lifecycle<M, S, R>,
  move: Move<M>,
  also: Columns,
  where: Columns & { id: number },
): Promise<boolean> {
  const columns = { ...columnsOf(lifecycle, move, now), ...also }
  return await update(query, lifecycle.table, columns, { ...where, state: move.from })
}

/** Stores a row that was moved in memory, with other columns of it. */
export async function storeRow<M extends Machine, S, R extends { id: number; dueAt: Date | null }>(
  unit: Unit,
  lifecycle: Lifecycle<M, S, R>,
  row: R,
  also: Columns,
): Promise<void> {
  const columns = { ...lifecycle.columns(lifecycle.read(row), unit.now), dueAt: row.dueAt, updatedAt: unit.now }
  await update(unit.query, lifecycle.table, { ...columns, ...also }, { id: row.id })
}

/** State, context and due time of a new row. */
export function initialColumns<M extends Machine, S, R>(
  lifecycle: Lifecycle<M, S, R>,
  now: Date,
  ...given: Given<S>
): Snapshot<StateOf<M>, ContextOf<M>> & { dueAt: Date | null } {
  const { state, context } = lifecycle.initial
  const wait = waitOf(lifecycle, { state, context }, given)
  return { state, context: Object.assign({}, context), dueAt: wait === null ? null : new Date(now.getTime() + wait) }
}

/** For statements that store many moves at once, each a row of `moves` with `state`, `context` and `due_at`. */
export const setMoves = (moves: string): string => `state = ${moves}.state, context = ${moves}.context::jsonb, due_at = ${moves}.due_at`

/**
 * SQL of one event for all rows whose state takes it: the condition `where`, and what to `set`, without the due time. `alias` is the table
 * in the statement. Throws if the target depends on more than the state.
 */
export function inBulk<M extends Machine, S, R>(
  lifecycle: Lifecycle<M, S, R>,
  event: EventOf<M>,
  alias: string = lifecycle.table,
): { where: string; set: string } {
  const { machine, initial } = lifecycle
  const { type }: { type: string } = event
  // Unique markers: they distinguish what the event keeps from what it sets, and computing with one throws.
  const kept = Object.fromEntries(Object.keys(initial.context).map((field) => [field, Symbol(field)]))
  const columns = (state: string, context: object): Columns =>
    lifecycle.columns({ state: state as StateOf<M>, context: context as ContextOf<M> }, new Date(0))
  const moves = Object.entries(machine.states).flatMap(([state, { transitions }]) => {
    const branches = transitions.get(type)?.length ?? 0
    if (branches > 1) throw new Error(`${machine.id}: where ${type} leads from ${state} depends on the row.`)
    if (branches === 0) return []
    const after = step(machine, { state: state as StateOf<M>, context: kept as ContextOf<M> }, event)
    const set = Object.entries(columns(after.state, after.context)).map(([name, value]): [string, string] => {
      if (name === 'context') return [name, patch(alias, kept, after.context)]
      return [name, typeof value === 'symbol' ? '' : literal(value)]
    })
    return [{ state, set: new Map(set.filter(([, value]) => value !== '')) }]
  })
  const [stateField = 'state'] = Object.entries(columns('?', kept)).find(([, value]) => value === '?') ?? []
  const stateColumn = `${alias}.${snakeCase(stateField)}`
  const set = [...new Set(moves.flatMap((move) => [...move.set.keys()]))].map((name) => {
    const values = moves.flatMap((move) => move.set.get(name) ?? [])
    const column = snakeCase(name)
    if (values.length === moves.length && new Set(values).size === 1) return `${column} = ${values[0]}`
    const cases = moves.map((move) => `when ${literal(move.state)} then ${move.set.get(name) ?? `${alias}.${column}`}`)
    return `${column} = case ${stateColumn} ${cases.join(' ')} end`
  })
  const [first, ...others] = moves.map((move) => literal(move.state))
  const where = others.length === 0 ? `= ${first}` : `in (${[first, ...others].join(', ')})`
  return { where: `${stateColumn} ${where}`, set: set.join(', ') }
}

function patch(alias: string, before: Columns, after: Columns): string {
  const changed = Object.entries(after).filter(([field, value]) => value !== before[field])
  return changed.length === 0 ? '' : `${alias}.context || ${literal(JSON.stringify(Object.fromEntries(changed)))}`
}

const literal = (value: unknown): string => (typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value))

function waitOf<M extends Machine, S, R>(
  { dueIn }: Lifecycle<M, S, R>,
  { state, context }: Snapshot<StateOf<M>, ContextOf<M>>,
  given: Given<S>,
): number | null {
  const [settings] = given
  return dueIn?.(state, context, settings as S) ?? null
}

/** True if there is nothing to store. */
function isIdle<M extends Machine, S, R>(lifecycle: Lifecycle<M, S, R>, row: R, move: Move<M>): boolean {
  if (move.changed) return false
  if (!lifecycle.dueIn) return true
  const { dueAt } = row as { dueAt?: Date | null }
  return dueAt !== undefined && dueAt?.getTime() === move.dueAt?.getTime()
}

const columnsOf = <M extends Machine, S, R>(lifecycle: Lifecycle<M, S, R>, move: Move<M>, now: Date): Columns => ({
  ...lifecycle.columns(move, now),
  ...(lifecycle.dueIn && (move.dueAt || !lifecycle.keepsDueAt) ? { dueAt: move.dueAt } : {}),
  ...(lifecycle.touches === false ? {} : { updatedAt: now }),
})

/** Returns true if the row exists. */
async function update(query: Sql, table: string, columns: Columns, where: Columns): Promise<boolean> {
  const values: unknown[] = []
  const equals = ([name, value]: [string, unknown]): string => {
    values.push(isJson(value) ? JSON.stringify(value) : value)
    return `${snakeCase(name)} = $${values.length}`
  }
  const set = Object.entries(columns).map(equals).join(', ')
  const condition = Object.entries(where).map(equals).join(' and ')
  return (await query(`update ${table} set ${set} where ${condition} returning id`, values)).length > 0
}

const isJson = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !(value instanceof Date) && !Buffer.isBuffer(value)

const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
