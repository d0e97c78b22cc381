// `npm run bench`: everything but `live` and `scale`, or the named parts (`npm run bench -- http reads uploads memory start login lists
// federation bytes texts operations export import ladder runners live scale`). Exits with 1 when a bar is missed.

import { benchBytes } from './bytes.ts'
import { benchExport } from './export.ts'
import { benchFederation } from './federation/index.ts'
import { benchHttp } from './http.ts'
import { benchImport } from './import.ts'
import { benchLadder, ladderVerdicts, processorRatios } from './ladder.ts'
import { benchLists } from './lists.ts'
import { benchLive } from './live.ts'
import { benchLogin } from './login.ts'
import { benchMemory } from './memory.ts'
import { benchOperations } from './operations.ts'
import { benchReads } from './reads.ts'
import { benchRunners } from './runners.ts'
import { benchScale } from './scale.ts'
import { benchStart } from './start.ts'
import { printTable, verdict } from './table.ts'
import { benchTexts } from './texts.ts'
import { benchUploads } from './uploads.ts'

const parts: Record<string, () => Promise<void>> = {
  http: benchHttp,
  reads: benchReads,
  uploads: benchUploads,
  memory: benchMemory,
  start: benchStart,
  login: benchLogin,
  lists: benchLists,
  federation: benchFederation,
  bytes: benchBytes,
  operations: benchOperations,
  texts: benchTexts,
  export: benchExport,
  import: benchImport,
  ladder,
  runners: benchRunners,
  live: benchLive,
  scale: benchScale,
}

/** Parts that take half an hour. */
const BY_NAME = ['live', 'scale']

const requested = process.argv.slice(2)
const unknown = requested.find((name) => !Object.hasOwn(parts, name))
if (unknown !== undefined) {
  console.error(`"${unknown}" is no part of the bench: choose from ${Object.keys(parts).join(', ')}`)
  process.exit(1)
}
for (const [name, bench] of Object.entries(parts)) {
  if (requested.length > 0 ? !requested.includes(name) : BY_NAME.includes(name)) continue
  console.log(`\n== ${name} ==`)
  await bench()
}

async function ladder(): Promise<void> {
  const results = await benchLadder({ log: (line) => console.log(line) })
  const seconds = ({ wall, cpu }: { wall: number; cpu: number }) => [wall.toFixed(1), cpu.toFixed(1)]
  console.log()
  printTable(
    ['ladder', 'apart: wall s', 'CPU s', 'in one: wall s', 'CPU s', 'as served: wall s', 'CPU s', 'first: wall s', 'CPU s'],
    results.map(({ name, apart, inOne, together, first }) => [
      name,
      ...seconds(apart),
      ...seconds(inOne),
      ...seconds(together),
      ...seconds(first),
    ]),
  )
  for (const [name, ratio, limit] of ladderVerdicts(results)) verdict(name, ratio, limit)
  for (const line of processorRatios(results)) console.log(`of processor time, ${line}`)
}
