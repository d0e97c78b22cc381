// One move of a lifecycle: takes the state and context of a row and an event, returns the next state and context.

import { type AnyStateMachine, type ContextFrom, type EventFrom, type EventObject, type StateValueFrom, transition } from 'xstate'

/** What a row stores of a machine: the state is a column, the context JSON. */
export interface Snapshot<TState extends string, TContext> {
  state: TState
  context: TContext
}

export type Machine = AnyStateMachine
export type StateOf<TMachine extends Machine> = StateValueFrom<TMachine> & string
export type ContextOf<TMachine extends Machine> = ContextFrom<TMachine>
export type EventOf<TMachine extends Machine> = EventFrom<TMachine>

/** What ends a state. Required for every state: `npm run check` refuses a state without an exit. */
export interface StateMeta {
  /** The timeout in words; `dueIn` gives its length, and the event `TIMED_OUT` is sent when it has passed. */
  due?: string
  /** The event that is sent then, if it is not `TIMED_OUT`. */
  dueEvent?: string
  /** Who ends the state, if it is not (only) a timeout. */
  owner?: string
  /** True for a final state. */
  end?: true
}

/** An event that the machine does not take in its current state. */
export class IllegalMove extends Error {
  override readonly name = 'IllegalMove'
  readonly machine: string
  readonly state: string
  readonly event: string

  constructor(machine: string, state: string, event: string) {
    super(`The machine ${machine} does not take ${event} in the state ${state}`)
    this.machine = machine
    this.state = state
    this.event = event
  }
}

/**
 * The state and context after `event`. `changed` is false if the event is taken without effect. Throws `IllegalMove` if the machine does
 * not take the event now, and an Error for an unknown state.
 */
export function step<TMachine extends Machine>(
  machine: TMachine,
  from: Snapshot<StateOf<TMachine>, ContextOf<TMachine>>,
  event: EventOf<TMachine>,
): Snapshot<StateOf<TMachine>, ContextOf<TMachine>> & { changed: boolean } {
  const before = machine.resolveState({ value: from.state, context: from.context })
  const named: EventObject = event
  if (!before.can(event)) throw new IllegalMove(machine.id, from.state, named.type)
  const [after] = transition<AnyStateMachine>(machine, before, event)
  return {
    state: after.value,
    context: after.context,
    changed: after.value !== before.value || !sameFields(before.context, after.context),
  }
}

/** True if the machine takes `event` now. */
export function can<TMachine extends Machine>(
  machine: TMachine,
  from: Snapshot<StateOf<TMachine>, ContextOf<TMachine>>,
  event: EventOf<TMachine>,
): boolean {
  return machine.resolveState({ value: from.state, context: from.context }).can(event)
}

/** Contexts are flat, so comparing the fields is enough. */
function sameFields(before: Record<string, unknown>, after: Record<string, unknown>): boolean {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...keys].every((key) => before[key] === after[key])
}
