// A load generator: keep-alive connections with one request at a time each.

import { setTimeout as pause } from 'node:timers/promises'
import { Pool } from 'undici'
import type { PreparedAnswer } from './bare-server.ts'

export interface Load {
  requests: number
  /** Requests per second of wall clock. */
  rate: number
  /** In ms. */
  p50: number
  p99: number
}

export interface Target {
  path: string
  headers: Record<string, string>
  /** GET by default. */
  method?: 'GET' | 'POST'
  body?: string
  /** Whether responses differ in length, since equal matches have no fixed order. */
  varies?: boolean
}

export interface LoadGenerator {
  /** Sends requests for `ms` milliseconds. Throws when a response is not 200, or differs in length from the target's first one. */
  run(target: Target, ms: number): Promise<Load>
  /**
   * Sends `rate` requests a second for `ms` milliseconds, whether or not earlier requests were answered. Latencies count from the time at
   * which a request was due, so that a server that falls behind cannot hide it.
   */
  runAtRate(target: Target, rate: number, ms: number): Promise<Load>
  /** The response of a bare server instead. */
  answerOf(target: Target, path: string): Promise<PreparedAnswer>
  close(): Promise<void>
}

export function makeLoadGenerator(options: { origin: string; connections: number }): LoadGenerator {
  const { origin, connections } = options
  const pool = new Pool(origin, { connections, pipelining: 1 })
  const lengths = new Map<Target, number>()

  async function ask(target: Target): Promise<void> {
    const { varies = false, ...request } = target
    const { statusCode, body } = await pool.request({ method: 'GET', ...request })
    const length = (await body.arrayBuffer()).byteLength
    const expected = lengths.get(target) ?? length
    lengths.set(target, expected)
    if (statusCode !== 200) throw new Error(`${origin}${target.path} answered ${statusCode}.`)
    if (length !== expected && !varies) throw new Error(`${origin}${target.path} answered ${length} bytes, not ${expected}.`)
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
      return loadOf(times, performance.now() - begun)
    },
    async runAtRate(target, rate, ms) {
      const times: number[] = []
      const requested: Promise<void>[] = []
      const begun = performance.now()
      const total = Math.ceil((rate * ms) / 1000)
      while (requested.length < total) {
        const now = performance.now()
        for (let due = begun + (requested.length * 1000) / rate; due <= now && requested.length < total; ) {
          const dueAt = due
          requested.push(ask(target).then(() => void times.push(performance.now() - dueAt)))
          due = begun + (requested.length * 1000) / rate
        }
        await pause(1)
      }
      await Promise.all(requested)
      return loadOf(times, performance.now() - begun)
    },
    async answerOf(target, path) {
      const { statusCode, headers, body } = await pool.request({ method: 'GET', ...target })
      const content = Buffer.from(await body.arrayBuffer()).toString('base64')
      if (statusCode !== 200) throw new Error(`${origin}${target.path} answered ${statusCode}.`)
      return { path, contentType: String(headers['content-type'] ?? ''), body: content }
    },
    close: () => pool.close(),
  }
}

function loadOf(times: number[], ms: number): Load {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  return { requests: sorted.length, rate: (sorted.length * 1000) / ms, p50: at(0.5), p99: at(0.99) }
}
