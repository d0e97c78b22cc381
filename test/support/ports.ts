// Ports for test nodes that restart on the same port: unique within a run.

import { isFree, PORTS } from '../../scripts/demo/node-process.ts'

/** More than the number of Jest workers, whose ids start at 1. */
const SHARES = 16
const SIZE = Math.floor(PORTS.count / SHARES)

const first = PORTS.from + (Number(process.env.JEST_WORKER_ID ?? 0) % SHARES) * SIZE
/** Makes it unlikely that two runs on one machine start at the same port. */
let next = Math.floor(Math.random() * SIZE)

/** A free port of this worker's range. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < SIZE; tries += 1) {
    const port = first + (next++ % SIZE)
    if (await isFree(port)) return port
  }
  throw new Error('No TCP port is free on 127.0.0.1.')
}
