// A node as its own process, on loopback, with a data folder of its own.

import { type ChildProcess, spawn } from 'node:child_process'
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
  /** SIGTERM, and waits for the end. */
  stop(): Promise<void>
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const PASSWORD = 'demo-password'

/** Starts `vireo serve`; resolves when it listens. Throws with its last words when it ends before. */
export async function startNode(options: {
  dataDir: string
  port: number
  env?: Record<string, string>
}): Promise<NodeProcess> {
  const { dataDir, port, env = {} } = options
  const begun = performance.now()
  const child = spawn(process.execPath, ['--max-semi-space-size=8', join(ROOT, 'src/main.ts'), 'serve'], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
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

/** A TCP port of loopback that was free a moment ago. */
export async function freePort(): Promise<number> {
  return await new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}
