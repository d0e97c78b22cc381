// Time from the start of the server until it listens, on empty data and afterwards, and its idle memory: the all-in-one process, without
// the processes of its embedded PostgreSQL.

import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { freePort, startNode } from '../scripts/demo/node-process.ts'
import { median, residentMemory } from './processes.ts'
import { printTable, verdict } from './table.ts'

const LATER_STARTS = 3
const MAX_LATER_START_MS = 2500
const MAX_IDLE_MIB = 250
const IDLE_LOOKS = 20
const LOOK_EVERY_MS = 250

export async function benchStart(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'vireo-bench-start-'))
  await chmod(folder, 0o711)
  try {
    const port = await freePort()
    const starts: { ms: number; idle: number }[] = []
    for (let round = 0; round <= LATER_STARTS; round += 1) {
      const node = await startNode({ dataDir: folder, port })
      const idle = await idleMemory(node.child.pid ?? 0)
      await node.stop()
      starts.push({ ms: node.startedInMs, idle })
    }
    console.log()
    printTable(
      ['start', 'ms', 'idle MiB'],
      starts.map(({ ms, idle }, index) => [index === 0 ? 'first' : `again ${index}`, String(ms), idle.toFixed(0)]),
    )
    const later = starts.slice(1)
    verdict('later start', median(later.map(({ ms }) => ms)), MAX_LATER_START_MS, ' ms')
    verdict('idle memory', Math.max(...starts.map(({ idle }) => idle)), MAX_IDLE_MIB, ' MiB')
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** The idle maximum. */
async function idleMemory(pid: number): Promise<number> {
  let most = 0
  for (let look = 0; look < IDLE_LOOKS; look += 1) {
    await pause(LOOK_EVERY_MS)
    most = Math.max(most, residentMemory(pid))
  }
  return most
}
