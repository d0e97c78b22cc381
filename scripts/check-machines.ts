// Part of `npm run check`: every machine has a table with a row for each of its transitions, and a test that runs the table.

import { access, readFile } from 'node:fs/promises'
import type { Table } from '../test/unit/state-machines/table.ts'
import { triedRows } from '../test/unit/state-machines/table.ts'
import { definitionFaults, loadMachines, movesOf, untried } from './machines.ts'

const tests = new URL('../test/unit/state-machines/', import.meta.url)

const machines = await loadMachines()
const faults = (await Promise.all(machines.map(faultsOf))).flat()
if (machines.length === 0) faults.push('no machine was found in src/state-machines')
for (const fault of faults) console.error(fault)

const moves = machines.reduce((sum, { machine }) => sum + movesOf(machine).length, 0)
console.log(`${machines.length} machines, ${moves} moves, ${faults.length} faults`)
process.exitCode = faults.length === 0 ? 0 : 1

async function faultsOf({ name, machine }: Awaited<ReturnType<typeof loadMachines>>[number]): Promise<string[]> {
  const found = definitionFaults(machine)
  if (machine.id !== name) found.push(`${name}: the machine's id is ${machine.id}, not the name of its file`)

  const table = await loadTable(name)
  if (!table) return [...found, `${name}: test/unit/state-machines/${name}.table.ts does not exist`]
  if (table.machine !== machine) found.push(`${name}: the table is of another machine`)

  const test = await readFile(new URL(`${name}.test.ts`, tests), 'utf8').catch(() => '')
  const runsTable = test.includes(`from './${name}.table.ts'`) && /^describeMachine\(table\)$/m.test(test)
  if (!runsTable) found.push(`${name}: test/unit/state-machines/${name}.test.ts does not run the table`)

  for (const move of untried(machine, triedRows(table))) {
    const branch = move.description ? ` (${move.description})` : ''
    found.push(`${name}: no row tries ${move.from} + ${move.event}${branch} → ${move.to}`)
  }
  return found
}

async function loadTable(name: string): Promise<Table | undefined> {
  const file = new URL(`${name}.table.ts`, tests)
  const exists = await access(file).then(
    () => true,
    () => false,
  )
  if (!exists) return undefined
  const loaded: { table?: Table } = await import(file.href)
  return loaded.table
}
