// Starts the receiving servers, and collects their reports.

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { SinkOrder, SinkReport } from './sink-process.ts'

export interface Sink {
  inboxes: string[]
  /** Deliveries since the last report. */
  report(): Promise<SinkReport>
  /** Collects reports until this many deliveries were answered, or the time is over. */
  awaitAnswered(count: number, withinMs: number): Promise<SinkReport>
  close(): void
}

const LOOK_EVERY_MS = 50

export async function startSink(order: SinkOrder): Promise<Sink> {
  const child: ChildProcess = fork(fileURLToPath(new URL('sink-process.ts', import.meta.url)))
  const ask = async <T>(message: SinkOrder | 'report'): Promise<T> => {
    const answer = once(child, 'message')
    child.send(message)
    return (await answer)[0] as T
  }
  const ports = await ask<number[]>(order)
  const report = () => ask<SinkReport>('report')
  return {
    inboxes: ports.map((port) => `http://127.0.0.1:${port}/inbox`),
    report,
    async awaitAnswered(count, withinMs) {
      const begun = performance.now()
      const all: SinkReport = { answered: [], sockets: 0, bodies: 0, repeated: 0 }
      while (all.answered.length < count && performance.now() - begun < withinMs) {
        await pause(LOOK_EVERY_MS)
        const { answered, sockets, bodies, repeated } = await report()
        all.answered.push(...answered)
        all.sockets = Math.max(all.sockets, sockets)
        all.repeated += repeated
        all.bodies = Math.max(all.bodies, bodies)
      }
      return all
    },
    close: () => child.disconnect(),
  }
}
