// Readers and writers that continue while services of the server fail. They record what was acknowledged, and every answer that an outage
// does not excuse.

import { setTimeout as moment } from 'node:timers/promises'
import type { Client } from '../../../scripts/demo/client.ts'
import { slowness } from '../../support/cpu-time.ts'
import { until } from '../../support/until.ts'

export interface Writer {
  /** Acknowledged writes, in order. */
  acknowledged: string[]
  /** Writes without an acknowledgement, which may or may not have happened. */
  unsure: string[]
}

export interface Load {
  /** Answers that no outage explains, one line each. */
  readonly wrong: string[]
  /** Number of requests that were refused because of the outage. */
  readonly refused: number
  /** Requests `path` repeatedly. */
  reads(path: string, init?: RequestInit): void
  /** Writes repeatedly; `write` gets a unique name, and returns the server's response. */
  writes(kind: string, write: (client: Client, name: string) => Promise<Response>, paceMs?: number): Writer
  /** Waits until each reader and writer has succeeded `times` more times. */
  untilEachSucceeds(times: number, withinMs: number): Promise<void>
  untilRefused(withinMs: number): Promise<void>
  /** Stops all loops. */
  stop(): Promise<void>
}

/** A request that takes longer than this on a quiet machine hangs. */
const HANGS_MS = 12_000
/** Timeout of a request on any machine. */
const ABORTS_MS = 120_000
/** Pause between two requests of one reader or writer, which leaves the processors to the servers. */
const PACE_MS = 500
const PROBLEM = 'application/problem+json'

/** Requests go to the clients in turn. */
export function makeLoad(clients: Client[]): Load {
  const wrong: string[] = []
  const loops: Promise<void>[] = []
  const successes: { name: string; count: number }[] = []
  let turn = 0
  let refused = 0
  let running = true

  const next = (): Client => {
    const client = clients[turn++ % clients.length]
    if (!client) throw new Error('There is nobody to ask.')
    return client
  }

  /** Returns whether the request succeeded. */
  async function judged(what: string, ask: () => Promise<Response>): Promise<boolean> {
    const begun = performance.now()
    try {
      const answer = await ask()
      const text = await answer.text()
      const took = Math.round(performance.now() - begun)
      if (took > HANGS_MS && took > HANGS_MS * slowness()) wrong.push(`${what} took ${took} ms`)
      if (answer.ok) return true
      if (answer.status === 503) refused += 1
      if (answer.status !== 503 || !isRefusal(answer)) wrong.push(`${what} answered ${answer.status}: ${text.slice(0, 300)}`)
    } catch (error) {
      wrong.push(`${what} was not answered: ${String(error)} ${String((error as Error).cause ?? '')}`)
    }
    return false
  }

  const isRefusal = ({ headers }: Response): boolean =>
    Number(headers.get('retry-after')) > 0 && (headers.get('content-type') ?? '').startsWith(PROBLEM)

  function loop(name: string, once: () => Promise<boolean>, paceMs = PACE_MS): void {
    const tally = { name, count: 0 }
    successes.push(tally)
    const run = async () => {
      while (running) {
        if (await once()) tally.count += 1
        await moment(paceMs)
      }
    }
    loops.push(run())
  }

  const limited = (client: Client): Client => ({
    ...client,
    raw: (path, init) => client.raw(path, { ...init, signal: AbortSignal.timeout(ABORTS_MS) }),
  })

  return {
    wrong,
    get refused() {
      return refused
    },
    reads: (path, init) => loop(path, () => judged(`GET ${path}`, () => limited(next()).raw(path, init ?? {}))),
    writes(kind, write, paceMs) {
      const writer: Writer = { acknowledged: [], unsure: [] }
      let serial = 0
      loop(
        kind,
        async () => {
          const name = `${kind} ${serial++}`
          const isDone = await judged(name, () => write(limited(next()), name))
          ;(isDone ? writer.acknowledged : writer.unsure).push(name)
          return isDone
        },
        paceMs,
      )
      return writer
    },
    async untilEachSucceeds(times, withinMs) {
      const before = new Map(successes.map((tally) => [tally, tally.count]))
      const behind = () => successes.filter((tally) => tally.count < (before.get(tally) ?? 0) + times)
      await until(() => behind().length === 0, { withinMs, what: 'an answer to all' }).catch((error: unknown) => {
        throw new Error(`${String(error)}: ${behind().map(({ name }) => name)}; wrong: ${wrong.slice(0, 5).join('\n')}`)
      })
    },
    async untilRefused(withinMs) {
      const before = refused
      await until(() => refused > before, { withinMs, what: 'a refusal' })
    },
    async stop() {
      running = false
      await Promise.all(loops)
    },
  }
}
