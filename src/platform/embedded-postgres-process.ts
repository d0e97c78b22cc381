// The operating system's view of a PostgreSQL server: its pid file, whether it lives, and free ports.

import { readdirSync, readFileSync, readlinkSync, realpathSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'

/** The used lines of `postmaster.pid` (src/include/utils/pidfile.h of PostgreSQL). */
export interface Postmaster {
  pid: number
  port: number
  status: string
}

/** The server that has this cluster open, or undefined. A pid that was reused by another program does not count. */
export function readPostmaster(cluster: string): Postmaster | undefined {
  const found = parsePidFile(readText(join(cluster, 'postmaster.pid')) ?? '')
  return found && isAlive(found.pid) && worksIn(found.pid, cluster) ? found : undefined
}

/**
 * Removes a pid file whose number was reused by another program (after a reboot), which PostgreSQL would take for a running server. Not
 * while any process works in the cluster: the backends of a killed server may linger.
 */
export function clearForeignPidFile(cluster: string): void {
  const file = join(cluster, 'postmaster.pid')
  const named = parsePidFile(readText(file) ?? '')
  if (!named || !isAlive(named.pid) || worksIn(named.pid, cluster)) return
  const busy = readdirSync('/proc').some((name) => /^\d+$/.test(name) && worksIn(Number(name), cluster))
  if (!busy) rmSync(file, { force: true })
}

/** Parses a pid file; undefined while the server is still writing it. */
export function parsePidFile(text: string): Postmaster | undefined {
  const lines = text.split('\n')
  const pid = Number(lines[0])
  if (!Number.isInteger(pid) || pid <= 0) return undefined
  return { pid, port: Number(lines[3] ?? 0) || 0, status: lines[7]?.trim() ?? '' }
}

/** True if a process runs; a zombie does not. */
export function isAlive(pid: number): boolean {
  return (processStat(pid)?.state ?? 'Z') !== 'Z'
}

/** Identifies a process, so that a later one with the same number is not mistaken for it. Undefined if it is gone. */
export function processIdentity(pid: number): string | undefined {
  const stat = processStat(pid)
  return stat && stat.state !== 'Z' ? `${pid}-${stat.startedAt}` : undefined
}

/** A free TCP port on loopback: `preferred` if nothing listens there, otherwise one chosen by the system. */
export async function freePort(preferred = 0): Promise<number> {
  return (await tryPort(preferred)) ?? (await tryPort(0)) ?? Promise.reject(new Error('No TCP port is free on 127.0.0.1'))
}

export function tryPort(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(undefined))
    server.listen({ port, host: '127.0.0.1' }, () => {
      const address = server.address()
      server.close(() => resolve(address && typeof address === 'object' ? address.port : undefined))
    })
  })
}

export function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}

/** A postmaster's working directory is its data directory. */
function worksIn(pid: number, cluster: string): boolean {
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === realpathSync(cluster)
  } catch {
    return false
  }
}

/** Fields 3 (state) and 22 (start time) of /proc/PID/stat; the name before them may contain parentheses. */
function processStat(pid: number): { state: string; startedAt: string } | undefined {
  const text = readText(`/proc/${pid}/stat`)
  if (text === undefined) return undefined
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return { state: fields[0] ?? 'Z', startedAt: fields[19] ?? '0' }
}
