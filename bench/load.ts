// A load generator: so many keep-alive connections, each with one request at a time.

import { Pool } from 'undici'

export interface Load {
  requests: number
  /** Requests per second of wall clock. */
  rate: number
  /** Milliseconds. */
  p50: number
  p99: number
}

export interface Target {
  path: string
  headers: Record<string, string>
  /** GET when left out. */
  method?: 'GET' | 'POST'
  body?: string
}

export interface LoadGenerator {
  /** Asks for `ms` milliseconds. Throws when an answer is not 200, or not of the length that the target's answer had. */
  run(target: Target, ms: number): Promise<Load>
  close(): Promise<void>
}

export function makeLoadGenerator(options: { origin: string; connections: number }): LoadGenerator {
  const { origin, connections } = options
  const pool = new Pool(origin, { connections, pipelining: 1 })
  const lengths = new Map<Target, number>()

  async function ask(target: Target): Promise<void> {
    const { statusCode, body } = await pool.request({ method: 'GET', ...target })
    const length = (await body.arrayBuffer()).byteLength
    const expected = lengths.get(target) ?? length
    lengths.set(target, expected)
    if (statusCode !== 200) throw new Error(`${origin}${target.path} answered ${statusCode}.`)
    if (length !== expected) throw new Error(`${origin}${target.path} answered ${length} bytes, not ${expected}.`)
  }

  return {
    async run(target, ms) {
      const times: number[] = []
      const begun = performance.now()
      const work = async () => {
        for (let at = performance.now(); at - begun < ms; ) {
          await ask(target)
          const now = performance.now()
          times.push(now - at)
          at = now
        }
      }
      await Promise.all(Array.from({ length: connections }, work))
      const seconds = (performance.now() - begun) / 1000
      times.sort((a, b) => a - b)
      const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0
      return { requests: times.length, rate: times.length / seconds, p50: at(0.5), p99: at(0.99) }
    },
    close: () => pool.close(),
  }
}
