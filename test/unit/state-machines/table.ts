// The format of a machine's test table, and the expansion of short rows.

import type { AnyStateMachine, ContextFrom, EventFrom, StateValueFrom } from 'xstate'

type State<TMachine extends AnyStateMachine> = StateValueFrom<TMachine> & string

/** `with` and `gives` name only relevant fields: the others are the table's context, and must not change. */
export interface Row<TMachine extends AnyStateMachine> {
  from: State<TMachine>
  with?: Partial<ContextFrom<TMachine>>
  event: EventFrom<TMachine>
  /** The next state, or `illegal` when no guard matches. */
  to: State<TMachine> | 'illegal'
  gives?: Partial<ContextFrom<TMachine>>
}

export interface Table<TMachine extends AnyStateMachine = AnyStateMachine, TSettings = unknown> {
  machine: TMachine
  /** Initial states. */
  starts: Array<State<TMachine>>
  context: ContextFrom<TMachine>
  settings: TSettings
  /** Omitted if nothing happens by itself. */
  dueIn?(state: State<TMachine>, context: ContextFrom<TMachine>, settings: TSettings): number | null
  rows: Array<Row<TMachine>>
  dues: Array<{ state: State<TMachine>; with?: Partial<ContextFrom<TMachine>>; ms: number | null }>
}

/** Preserves the machine's types for the rows of the table. */
export function defineTable<TMachine extends AnyStateMachine, TSettings>(table: Table<TMachine, TSettings>): Table<TMachine, TSettings> {
  return table
}

/** The rows with their whole context, for the coverage check. */
export function triedRows(table: Table): Array<{ from: string; context: unknown; event: Row<AnyStateMachine>['event'] }> {
  return table.rows.map((row) => ({ from: row.from, context: { ...table.context, ...row.with }, event: row.event }))
}
