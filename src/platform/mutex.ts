// A lock between processes of one machine (p-limit is for one process), which the kernel releases when its holder dies.

import { createHash } from 'node:crypto'
import { createServer, type Server } from 'node:net'

const RETRY_MS = 25

/**
 * Runs `work` while no other process (or other part of this one) holds the lock `name`. The lock is a listening abstract Unix socket: it
 * leaves no file, so a kill -9 leaves no stale lock (see unix(7)). Throws if the lock is still held after `timeoutMs`.
 */
export async function withProcessLock<T>(name: string, timeoutMs: number, work: () => Promise<T>): Promise<T> {
  const address = `\0vireo-${createHash('sha256').update(name).digest('hex').slice(0, 32)}`
  const giveUpAt = performance.now() + timeoutMs
  let holder = await tryListen(address)
  while (!holder) {
    if (performance.now() > giveUpAt) throw new Error(`Another process has been holding ${name} for ${timeoutMs} ms`)
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
    holder = await tryListen(address)
  }
  const server = holder
  try {
    return await work()
  } finally {
    await new Promise((resolve) => server.close(resolve))
  }
}

function tryListen(address: string): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy())
    server.once('error', (error: NodeJS.ErrnoException) => (error.code === 'EADDRINUSE' ? resolve(undefined) : reject(error)))
    server.listen(address, () => resolve(server.unref()))
  })
}
