// The bare server of `bare-server.ts` as a separate process.

import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { PreparedAnswer } from './bare-server.ts'

export async function startBare(answers: PreparedAnswer[]): Promise<{ pid: number; origin: string; stop(): void }> {
  const bare = fork(fileURLToPath(new URL('bare-server.ts', import.meta.url)))
  const origin = await new Promise<string>((resolve, reject) => {
    bare.once('message', (address) => resolve(String(address)))
    bare.once('exit', (code) => reject(new Error(`The bare server ended with ${code}.`)))
    bare.send(answers)
  })
  return { pid: bare.pid ?? 0, origin, stop: () => bare.disconnect() }
}
