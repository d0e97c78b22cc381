// A state that is written without `advance` fails `npm run check`.

import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from '@jest/globals'
import { stateFaults } from '../../../scripts/check-states.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const biome = createRequire(import.meta.url).resolve('@biomejs/biome/bin/biome')
const file = 'actors/follow/a.ts'

it.each([
  "query('update follow set state = $2 where id = $1', [id, state])",
  'query(`update follow f\n  set due_at = (select min(x) from y where z), state = s.state from s where f.id = s.id`)',
  "query(`update job set state = case when lost > 1 then 'active' else 'waiting' end, owner = null`)",
  'query(`insert into a (b) select c from d on conflict (b) do update set b = excluded.b, state = excluded.state`)',
  "query('update actor set remote_state = $2 where id = $1', [id, state])",
])('SQL that sets a state is refused: %s', (text) => {
  expect(stateFaults(file, text)).toEqual([expect.stringContaining(`src/${file}:1 sets a state in SQL`)])
})

it('SQL that inserts a state is refused, unless a machine declares it as initial', () => {
  const insert = "query('insert into follow (id, state) values ($1, $2)', [id, state])"
  expect(stateFaults(file, insert)).toEqual([expect.stringContaining('inserts a state')])
  expect(stateFaults(file, `const { state } = initialColumns(followLifecycle, now)\n${insert}`)).toEqual([])
})

it.each([
  "query('update job set lease_until = $2 where id = $1 and state = $3', [])",
  `query(\`update job set \${CLAIMED.set}, owner = $2 where \${CLAIMED.where}\`)`,
  "query(`update video v set due_at = $1 from actor a where a.id = v.id and v.state in ('done')`)",
  "query('insert into follow_state (id) values ($1)')",
])('SQL that only reads a state is allowed: %s', (text) => {
  expect(stateFaults(file, text)).toEqual([])
})

it('TypeScript that assigns a state is refused', async () => {
  const tree = await realpath(await mkdtemp(join(tmpdir(), 'vireo-states-')))
  try {
    for (const copied of ['biome.json', 'scripts/states.grit']) await cp(join(root, copied), join(tree, copied))
    await writeFile(join(tree, '.gitignore'), 'data/\n')
    await mkdir(join(tree, 'src'))
    const wrong = [
      "row.state = 'x'",
      "if (row.state === 'x') row.remoteState = 'y'",
      'Object.assign(row, { ...more, state })',
      "Object.assign(row, { state: 'x' })",
    ]
    const right = ["row.due = 'x'", "if (row.state === 'x') Object.assign(row, { due: 1 })"]
    await writeFile(join(tree, 'src/a.ts'), [...wrong, ...right].join('\n'))
    const args = [biome, 'lint', '--reporter=github', '--max-diagnostics=none', 'src']
    const output = await new Promise<string>((resolve) => {
      execFile(process.execPath, args, { cwd: tree }, (_error, stdout, stderr) => resolve(stdout + stderr))
    })
    const lines = [...output.matchAll(/title=plugin,file=[^,]+,line=(\d+),/g)].map(([, line]) => Number(line))
    expect(lines).toEqual([1, 2, 3, 4])
  } finally {
    await rm(tree, { recursive: true, force: true })
  }
})
