// A node as a process on loopback, with its own data folder.

import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export interface NodeProcess {
  base: string
  username: string
  password: string
  /** Milliseconds from the start of the process until it served. */
  startedInMs: number
  child: ChildProcess
  /** Sends SIGTERM, and waits for the end. */
  stop(): Promise<void>
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const PASSWORD = 'demo-password'

/** Starts `vireo serve`; resolves when it listens. Throws with its last output if it ends before. */
export async function startNode(options: {
  dataDir: string
  port: number
  env?: Record<string, string>
  /** The checkout to run; by default this one. */
  root?: string
}): Promise<NodeProcess> {
  const { dataDir, port, env = {}, root = ROOT } = options
  const begun = performance.now()
  const child = spawn(process.execPath, ['--max-semi-space-size=2', mainOf(root), 'serve'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      MALLOC_ARENA_MAX: '1',
      MALLOC_TRIM_THRESHOLD_: '131072',
      VIREO_DATA_DIR: dataDir,
      VIREO_ROOT_PASSWORD: PASSWORD,
      VIREO__LISTEN__PORT: String(port),
      VIREO__WEBSERVER__HOSTNAME: '127.0.0.1',
      VIREO__LOG__LEVEL: 'warn',
      VIREO__VIREO__FEDERATION__ALLOW_HTTP: 'true',
      VIREO__VIREO__FEDERATION__ALLOW_PRIVATE_ADDRESSES: 'true',
      VIREO__RATES_LIMIT__API__MAX: '100000',
      VIREO__RATES_LIMIT__LOGIN__MAX: '1000',
      ...env,
    },
  })
  const said: string[] = []
  const ended = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)))
  const listening = new Promise<void>((resolve) => {
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on('line', (line) => {
        said.push(line)
        if (line.startsWith('HTTP server listening on')) resolve()
      })
    }
  })
  await Promise.race([
    listening,
    ended.then((code) => {
      throw new Error(`The node ended with ${code}: ${said.slice(-10).join('\n')}`)
    }),
  ])
  return {
    base: `http://127.0.0.1:${port}`,
    username: 'root',
    password: PASSWORD,
    startedInMs: Math.round(performance.now() - begun),
    child,
    async stop() {
      child.kill('SIGTERM')
      await ended
    },
  }
}

/** Earlier checkouts have a `main.ts`. */
const mainOf = (root: string): string => {
  const main = join(root, 'src/main.js')
  return existsSync(main) ? main : join(root, 'src/main.ts')
}

/** Below the ports that systems give to outgoing connections (from 32768 on Linux, 49152 elsewhere). */
export const PORTS = { from: 20_000, count: 12_000 }

/** A port on which nothing listens, outside of the range of outgoing connections. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < 100; tries += 1) {
    const port = PORTS.from + Math.floor(Math.random() * PORTS.count)
    if (await isFree(port)) return port
  }
  throw new Error('No TCP port is free on 127.0.0.1.')
}

export const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
