// `npm run bench`: everything, or the parts that are named (`npm run bench -- http start login lists federation bytes
// ladder`). Ends with 1 when one of the bars is missed.

import { benchBytes } from './bytes.ts'
import { benchFederation } from './federation/index.ts'
import { benchHttp } from './http.ts'
import { benchLadder, LADDER_BARS } from './ladder.ts'
import { benchLists } from './lists.ts'
import { benchLogin } from './login.ts'
import { benchStart } from './start.ts'
import { printTable, verdict } from './table.ts'

const parts: Record<string, () => Promise<void>> = {
  http: benchHttp,
  start: benchStart,
  login: benchLogin,
  lists: benchLists,
  federation: benchFederation,
  bytes: benchBytes,
  ladder,
}

const asked = process.argv.slice(2)
const unknown = asked.find((name) => !Object.hasOwn(parts, name))
if (unknown !== undefined) {
  console.error(`"${unknown}" is no part of the bench: choose from ${Object.keys(parts).join(', ')}`)
  process.exit(1)
}
for (const [name, bench] of Object.entries(parts)) {
  if (asked.length > 0 && !asked.includes(name)) continue
  console.log(`\n== ${name} ==`)
  await bench()
}

async function ladder(): Promise<void> {
  const { apart, together, ratios } = await benchLadder({ log: (line) => console.log(line) })
  const seconds = ({ wall, cpu }: { wall: number; cpu: number }) => [wall.toFixed(1), cpu.toFixed(1)]
  console.log()
  printTable(
    ['ladder', 'wall s', 'CPU s'],
    [
      ['one process each, six renditions', ...seconds(apart.all)],
      ['one process each, the five below the top', ...seconds(apart.belowCopied)],
      ['one process, six renditions', ...seconds(together.all)],
      ['top copied, one process for five', ...seconds(together.copied)],
    ],
  )
  verdict('top encoded anew, to one process each', ratios.encoded, LADDER_BARS.encoded)
  verdict('top copied, to one process each', ratios.copiedByAll, LADDER_BARS.copiedByAll)
}
