// Throughput of a stored file over loopback, whole and by ranges, beside a bare Node server that streams the same file: in alternating
// short rounds, so that other load of the machine affects both.

import { type ChildProcess, fork } from 'node:child_process'
import { randomFillSync } from 'node:crypto'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { Agent, get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort, startNode } from '../scripts/demo/node-process.ts'
import { newUuid } from '../src/platform/ids.ts'
import { processorTime, residentMemory } from './processes.ts'
import { printTable, verdictAtLeast } from './table.ts'

const MIB = 1024 * 1024
const FILE_BYTES = 128 * MIB
const ROUNDS = 7
const ROUND_MS = 1000
const WARM_UP_MS = 700
const LEAST_SHARE = 0.6

interface Case {
  name: string
  folder: string
  connections: number
  /** Bytes of a range; the whole file by default. */
  length?: number
  atLeast?: number
}

const CASES: readonly Case[] = [
  { name: 'whole web video', folder: 'web-videos', connections: 4, atLeast: LEAST_SHARE },
  { name: 'range of 4 MiB', folder: 'web-videos', connections: 8, length: 4 * MIB, atLeast: LEAST_SHARE },
  { name: 'range of 1 MiB', folder: 'web-videos', connections: 16, length: MIB, atLeast: LEAST_SHARE },
  { name: 'range of 1 MiB, HLS', folder: 'hls', connections: 16, length: MIB, atLeast: LEAST_SHARE },
  { name: 'range of 64 KiB', folder: 'web-videos', connections: 16, length: MIB / 16 },
]

interface Side {
  pid: number
  port: number
  path: string
}

interface Measured {
  /** MiB per second of wall clock, and per second of the server's CPU time. */
  rate: number
  byProcessor: number
}

export async function benchBytes(): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'vireo-bench-bytes-'))
  await chmod(dataDir, 0o711)
  const name = `${newUuid()}-1080.mp4`
  const uuid = newUuid()
  const bytes = randomFillSync(Buffer.allocUnsafe(FILE_BYTES))
  const places = {
    'web-videos': join(dataDir, 'storage', 'web-videos'),
    hls: join(dataDir, 'storage', 'streaming-playlists', 'hls', uuid),
  }
  for (const folder of Object.values(places)) {
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, name), bytes)
  }
  const bare = fork(fileURLToPath(new URL('bare-files.ts', import.meta.url)))
  const port = await freePort()
  const node = await startNode({ dataDir, port })
  try {
    const barePort = await listening(bare, join(places['web-videos'], name))
    const rows: string[][] = []
    const shares: [one: Case, share: number][] = []
    for (const one of CASES) {
      const path = one.folder === 'hls' ? `/static/streaming-playlists/hls/${uuid}/${name}` : `/static/web-videos/${name}`
      const server: Side = { pid: node.child.pid ?? 0, port, path }
      const bareServer: Side = { pid: bare.pid ?? 0, port: barePort, path: '/' }
      const [vireo, yardstick] = await inTurn(one, server, bareServer)
      const share = vireo.rate / yardstick.rate
      shares.push([one, share])
      const figures = [vireo.rate, yardstick.rate, vireo.byProcessor, yardstick.byProcessor].map((rate) => rate.toFixed(0))
      rows.push([one.name, String(one.connections), ...figures, share.toFixed(2)])
    }
    console.log(`\nfile of ${FILE_BYTES / MIB} MiB, quickest of ${ROUNDS} rounds`)
    printTable(['bytes', 'conn.', 'MiB/s', 'bare MiB/s', 'MiB/CPU s', 'bare MiB/CPU s', 'ratio'], rows)
    console.log(`Memory of the server after this: ${residentMemory(node.child.pid ?? 0).toFixed(0)} MiB\n`)
    for (const [{ name: what, atLeast }, share] of shares) {
      if (atLeast !== undefined) verdictAtLeast(`${what}, of a bare stream`, share, atLeast)
    }
  } finally {
    bare.disconnect()
    await node.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
}

const listening = (bare: ChildProcess, path: string): Promise<number> =>
  new Promise((resolve, reject) => {
    bare.once('message', (port) => resolve(Number(port)))
    bare.once('exit', (code) => reject(new Error(`The bare server ended with ${code}.`)))
    bare.send(path)
  })

async function inTurn(one: Case, vireo: Side, bare: Side): Promise<[vireo: Measured, bare: Measured]> {
  await measure(one, vireo, WARM_UP_MS)
  await measure(one, bare, WARM_UP_MS)
  const ofVireo: Measured[] = []
  const ofBare: Measured[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const both = [
      async () => ofVireo.push(await measure(one, vireo, ROUND_MS)),
      async () => ofBare.push(await measure(one, bare, ROUND_MS)),
    ]
    for (const next of round % 2 === 0 ? both : both.reverse()) await next()
  }
  return [best(ofVireo), best(ofBare)]
}

/** The fastest round counts, since other load only adds time. */
const best = (rounds: Measured[]): Measured => ({
  rate: Math.max(...rounds.map(({ rate }) => rate)),
  byProcessor: Math.max(...rounds.map(({ byProcessor }) => byProcessor)),
})

/** Each connection repeats its request until the time is over. */
async function measure({ connections, length }: Case, { pid, port, path }: Side, ms: number): Promise<Measured> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const processor = processorTime(pid)
  const begun = performance.now()
  const isOver = (): boolean => performance.now() - begun >= ms
  let received = 0
  let at = 0

  const ask = () =>
    new Promise<void>((resolve, reject) => {
      at = length === undefined ? 0 : (at + 7 * length) % (FILE_BYTES - length)
      const headers = length === undefined ? {} : { range: `bytes=${at}-${at + length - 1}` }
      const request = get({ host: '127.0.0.1', port, path, agent, headers }, (answer) => {
        const expected = length === undefined ? 200 : 206
        if (answer.statusCode !== expected) return reject(new Error(`${path} answered ${answer.statusCode}.`))
        answer.on('data', (chunk: Buffer) => {
          received += chunk.length
          if (isOver()) answer.destroy()
        })
        answer.once('close', resolve)
      })
      request.on('error', (error) => (isOver() ? resolve() : reject(error)))
    })

  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (!isOver()) await ask()
    }),
  )
  const seconds = (performance.now() - begun) / 1000
  agent.destroy()
  const used = Math.max(1, processorTime(pid) - processor) / 1000
  return { rate: received / MIB / seconds, byProcessor: received / MIB / used }
}
