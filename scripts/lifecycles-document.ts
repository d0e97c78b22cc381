// The text of docs/lifecycles.md: each machine as a diagram and a table of the exits of each state.

import type { AnyStateMachine } from 'xstate'
import { loadMachines, type Move, metaOf, movesOf, statesOf } from './machines.ts'

const HEAD = `# Lifecycles

Drawn by \`npm run docs\` from \`src/state-machines/\`. Do not edit: change the machine and draw again.

A state is a column of the row that it describes. An event that has no arrow from the present state is refused. A time-out
is a due time in the row: when it has passed, the sweeper sends \`TIMED_OUT\`. Words in brackets say which of several arrows
of one event is taken. Times are the defaults of [configuration.md](configuration.md).
`

/** The whole document. */
export async function lifecyclesDocument(): Promise<string> {
  const machines = await loadMachines()
  const contents = machines.map(({ name }) => `- [${name}](#${name})`).join('\n')
  return `${[HEAD, `${contents}\n`, ...machines.map(({ name, machine }) => section(name, machine))].join('\n')}`
}

function section(name: string, machine: AnyStateMachine): string {
  return [
    `## ${name}`,
    '',
    `Defined in [\`src/state-machines/${name}.ts\`](../src/state-machines/${name}.ts).`,
    '',
    '```mermaid',
    diagram(machine),
    '```',
    '',
    '| state | time-out | otherwise ended by |',
    '|---|---|---|',
    ...statesOf(machine).map((state) => stateRow(machine, state)),
    '',
  ].join('\n')
}

function stateRow(machine: AnyStateMachine, state: string): string {
  const meta = metaOf(machine, state)
  return `| ${state} | ${meta.due ?? '–'} | ${meta.owner ?? (meta.end ? 'nothing: the end' : '–')} |`
}

function diagram(machine: AnyStateMachine): string {
  const states = statesOf(machine)
  return [
    'stateDiagram-v2',
    ...states.map((state) => `    state "${state}" as ${id(state)}`),
    `    [*] --> ${id(String(machine.config.initial))}`,
    ...arrows(movesOf(machine)),
    ...states.filter((state) => metaOf(machine, state).end && leavesNowhere(machine, state)).map(toEnd),
  ].join('\n')
}

/** One arrow per pair of states, with all its events, so that diagrams stay readable. */
function arrows(moves: Move[]): string[] {
  const labels = new Map<string, string[]>()
  for (const move of moves) {
    const arrow = `${id(move.from)} --> ${id(move.to)}`
    const label = move.description ? `${move.event} (${plain(move.description)})` : move.event
    labels.set(arrow, [...(labels.get(arrow) ?? []), label])
  }
  return [...labels].map(([arrow, events]) => `    ${arrow} : ${events.join('<br>')}`)
}

const leavesNowhere = (machine: AnyStateMachine, state: string): boolean =>
  movesOf(machine).every((move) => move.from !== state || move.to === state)

const toEnd = (state: string): string => `    ${id(state)} --> [*]`

/** Names that the diagram language parses as one word. */
const id = (state: string): string => state.replaceAll('-', '_')

/** Colons and semicolons would end a label. */
const plain = (text: string): string => text.replace(/[:;]/g, ',')
