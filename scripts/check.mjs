// `npm run check`: types, lint and format, import rules and cycles, unused code, tests of the machines, writes of states and tables,
// drift between entities and tables, and SQL statements. One line for each.

import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { availableParallelism } from 'node:os'
import { dirname, join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../', import.meta.url))
const require = createRequire(import.meta.url)

const importRules = ['lint/style/noRestrictedImports', 'lint/suspicious/noImportCycles']

/** Slowest first. */
const checks = [
  { name: 'unused exports and dependencies', file: bin('knip'), args: ['--no-progress'] },
  { name: 'types', file: bin('typescript', 'tsc'), args: ['--noEmit', '-p', '.'] },
  { name: 'lint and format', file: bin('@biomejs/biome', 'biome'), args: ['check', '--error-on-warnings', '.'] },
  {
    name: 'import rules and cycles',
    file: bin('@biomejs/biome', 'biome'),
    args: ['lint', ...importRules.map((rule) => `--only=${rule}`), 'src'],
  },
  { name: 'machines', file: join(root, 'scripts/check-machines.ts'), args: [] },
  { name: 'states', file: join(root, 'scripts/check-states.ts'), args: [] },
  { name: 'entities and statements', file: join(root, 'scripts/check-database.ts'), args: [] },
  { name: 'owners', file: join(root, 'scripts/check-owners.ts'), args: [] },
]

const started = performance.now()
const results = []
const waiting = [...checks]
await Promise.all(Array.from({ length: Math.min(checks.length, Math.max(2, availableParallelism())) }, work))

const failed = results.filter((result) => result.code !== 0)
for (const result of failed) console.log(`\n── ${result.name} ──\n${result.output.trim()}`)
console.log()
for (const { name } of checks) {
  const result = results.find((done) => done.name === name)
  console.log(`${result.code === 0 ? 'ok    ' : 'FAILED'} ${name} (${seconds(result.ms)})`)
}
console.log(`${checks.length - failed.length} passed, ${failed.length} failed (${seconds(performance.now() - started)})`)
process.exitCode = failed.length === 0 ? 0 : 1

async function work() {
  for (let check = waiting.shift(); check; check = waiting.shift()) results.push(await run(check))
}

function run({ name, file, args }) {
  const begun = performance.now()
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [file, ...args], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        output += text
      })
    }
    const done = (code) => resolve({ name, code, output, ms: performance.now() - begun })
    child.on('error', (error) => {
      output += error.message
      done(1)
    })
    child.on('close', (code) => done(code ?? 1))
  })
}

/** The script of a package's command, so that it runs on this Node and on every platform. */
function bin(packageName, command = packageName) {
  const manifest = findManifest(packageName)
  const { bin: commands } = JSON.parse(readFileSync(manifest, 'utf8'))
  return join(dirname(manifest), typeof commands === 'string' ? commands : commands[command])
}

function findManifest(packageName) {
  for (const folder of require.resolve.paths(packageName) ?? []) {
    const manifest = join(folder, packageName, 'package.json')
    try {
      readFileSync(manifest)
      return manifest
    } catch {}
  }
  throw new Error(`${packageName} is not installed: run npm install`)
}

function seconds(ms) {
  return `${(ms / 1000).toFixed(1)} s`
}
