// Installs missing dependencies before `npm start`, `npm test` and others, and ensures that a suitable Node runs them. Plain JavaScript for
// Node 18 and later, without dependencies, since it runs before there are any.

import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const FLOOR = [24, 9]
const root = dirname(dirname(fileURLToPath(import.meta.url)))
const modules = join(root, 'node_modules')
const stampFile = join(modules, '.vireo-stamp')
const bundledNode = join(modules, '.bin', process.platform === 'win32' ? 'node.cmd' : 'node')

try {
  bootstrap()
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error))
  process.exit(1)
}

function bootstrap() {
  const stamp = fingerprint()
  if (read(stampFile) !== stamp) {
    install()
    linkBundledNode()
    dropNodeThatCannotRun()
    makeMediaToolsExecutable()
    writeFileSync(stampFile, stamp)
  }
  requireNode()
}

/** Changes with the locked versions and with the machine: node_modules of another platform are useless. */
function fingerprint() {
  const versions = read(join(root, 'package-lock.json')) ?? read(join(root, 'package.json')) ?? ''
  return `${createHash('sha256').update(versions).digest('hex')} ${process.platform}-${process.arch}\n`
}

/**
 * Installs the locked versions like `npm ci`, but without first deleting node_modules, which may contain the running Node. No dependency
 * needs its install script.
 */
function install() {
  console.error('Installing dependencies (the first time this takes about half a minute) …')
  rmSync(stampFile, { force: true })
  const given = process.env.npm_execpath ?? ''
  const useGiven = /^npm-cli\.c?js$/.test(basename(given)) && existsSync(given)
  const [program, first] = useGiven ? [process.execPath, [given]] : ['npm', []]
  const flags = ['--no-save', '--ignore-scripts', '--include=optional', '--no-audit', '--no-fund']
  const settings = {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: !useGiven && process.platform === 'win32',
  }
  const { status, error } = spawnSync(program, [...first, 'install', ...flags], settings)
  if (error) throw new Error(`npm cannot be run (${error.message}): install npm, or run "npm install" in ${root} yourself`)
  if (status !== 0) {
    throw new Error(`Installing the dependencies failed (npm ended with ${status}): is the npm registry reachable?`)
  }
}

/** npm 10 removes .bin/node when several packages offer it. */
function linkBundledNode() {
  if (process.platform === 'win32' || existsSync(bundledNode)) return
  const folder = `node-${process.platform}-${process.arch}`
  if (!existsSync(join(modules, folder, 'bin', 'node'))) return
  rmSync(bundledNode, { force: true })
  symlinkSync(join('..', folder, 'bin', 'node'), bundledNode)
}

/** A bundled Node that the system cannot load (musl) would precede the system's own on PATH. */
function dropNodeThatCannotRun() {
  if (!existsSync(bundledNode)) return
  const { status } = spawnSync(bundledNode, ['-v'], { stdio: 'ignore', shell: process.platform === 'win32' })
  if (status !== 0) rmSync(bundledNode, { force: true })
}

function makeMediaToolsExecutable() {
  if (process.platform === 'win32') return
  for (const scope of ['@ffmpeg-installer', '@ffprobe-installer']) {
    if (!existsSync(join(modules, scope))) continue
    for (const folder of readdirSync(join(modules, scope))) {
      const tool = join(modules, scope, folder, scope.slice(1, scope.indexOf('-')))
      if (existsSync(tool)) chmodSync(tool, 0o755)
    }
  }
}

/** npm puts node_modules/.bin first on PATH for the script that follows, so a bundled Node is the one that counts. */
function requireNode() {
  if (existsSync(bundledNode)) return
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major > FLOOR[0] || (major === FLOOR[0] && minor >= FLOOR[1])) return
  throw new Error(
    `Vireo needs Node ${FLOOR.join('.')} or newer, this is ${process.versions.node}, ` +
      `and there is no bundled one that runs on ${process.platform}-${process.arch}: install Node 24`,
  )
}

function read(file) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}
