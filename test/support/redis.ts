// Redis for tests: a new server if redis-server is on PATH, else the one of REDIS_URL, else none.

import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { freePort } from '../../src/platform/embedded-postgres-process.ts'

export interface TestRedis {
  url: string
  /** Stops a server that this run started; leaves a given one running. */
  stop(): Promise<void>
}

const READY_TIMEOUT_MS = 10_000

/** The Redis of this test run, or undefined when there is none. */
export const testRedisUrl = (): string | undefined => process.env.VIREO_TEST_REDIS_URL

/** Whether a test can start its own server, to flush or kill it. */
export const canStartRedis = (): boolean => spawnSync('redis-server', ['--version']).status === 0

/** Starts a server for the whole run, or returns the given one. */
export async function startRedis(folder: string): Promise<TestRedis | undefined> {
  if (process.env.REDIS_URL) return { url: process.env.REDIS_URL, stop: async () => {} }
  return canStartRedis() ? startOwnRedis({ folder }) : undefined
}

/** An in-memory server for one test. `port` restarts it on an earlier port. */
export async function startOwnRedis(options: { folder?: string; port?: number } = {}): Promise<TestRedis & { port: number }> {
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'vireo-redis-'))
  const port = options.port ?? (await freePort())
  const settings = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', folder]
  const child = spawn('redis-server', settings, { stdio: 'ignore' })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const url = `redis://127.0.0.1:${port}`
  await untilAnswering(url)
  return {
    url,
    port,
    async stop() {
      child.kill('SIGKILL')
      await ended
      if (options.folder === undefined) rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function untilAnswering(url: string): Promise<void> {
  const giveUpAt = performance.now() + READY_TIMEOUT_MS
  for (;;) {
    const client = new Redis(url, { lazyConnect: true, retryStrategy: () => null })
    client.on('error', () => {})
    const answered = await client.ping().then(
      () => true,
      () => false,
    )
    client.disconnect()
    if (answered) return
    if (performance.now() > giveUpAt) throw new Error(`redis-server does not answer at ${url}`)
    await wait(10)
  }
}
