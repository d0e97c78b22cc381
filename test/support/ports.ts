// Ports for nodes of tests, which end and come back on the same one: no two of a run get the same.

import { isFree, PORTS } from '../../scripts/demo/node-process.ts'

/** More than Jest has workers, which count from 1. */
const SHARES = 16
const SIZE = Math.floor(PORTS.count / SHARES)

const first = PORTS.from + (Number(process.env.JEST_WORKER_ID ?? 0) % SHARES) * SIZE
/** Two runs on one machine seldom begin at the same one. */
let next = Math.floor(Math.random() * SIZE)

/** One of this worker, on which nothing listens. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < SIZE; tries += 1) {
    const port = first + (next++ % SIZE)
    if (await isFree(port)) return port
  }
  throw new Error('No TCP port is free on 127.0.0.1.')
}
