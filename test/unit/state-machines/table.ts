// The shape of a machine's test table, and how a short row becomes a full one.

import type { AnyStateMachine, ContextFrom, EventFrom, StateValueFrom } from 'xstate'

type State<TMachine extends AnyStateMachine> = StateValueFrom<TMachine> & string

/** `with` and `gives` name only the fields that matter: the rest is the table's context, and must stay as it is. */
export interface Row<TMachine extends AnyStateMachine> {
  from: State<TMachine>
  with?: Partial<ContextFrom<TMachine>>
  event: EventFrom<TMachine>
  /** The next state, or `illegal` when the guards let nothing through. */
  to: State<TMachine> | 'illegal'
  gives?: Partial<ContextFrom<TMachine>>
}

export interface Table<TMachine extends AnyStateMachine = AnyStateMachine, TSettings = unknown> {
  machine: TMachine
  /** States in which a row may begin its life. */
  starts: Array<State<TMachine>>
  context: ContextFrom<TMachine>
  settings: TSettings
  /** Left out where nothing happens by itself. */
  dueIn?(state: State<TMachine>, context: ContextFrom<TMachine>, settings: TSettings): number | null
  rows: Array<Row<TMachine>>
  dues: Array<{ state: State<TMachine>; with?: Partial<ContextFrom<TMachine>>; ms: number | null }>
}

/** Keeps the types of the machine for the rows of the table. */
export function defineTable<TMachine extends AnyStateMachine, TSettings>(table: Table<TMachine, TSettings>): Table<TMachine, TSettings> {
  return table
}

/** The rows with their whole context, as the coverage check reads them. */
export function triedRows(table: Table): Array<{ from: string; context: unknown; event: Row<AnyStateMachine>['event'] }> {
  return table.rows.map((row) => ({ from: row.from, context: { ...table.context, ...row.with }, event: row.event }))
}
