import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, expect, it } from '@jest/globals'
import { makeApp } from '../../../src/http/app.ts'
import { makeLogger, silentLogger } from '../../../src/platform/logger.ts'
import { type LoopWatch, makeLoopWatch } from '../../../src/platform/loop-watch.ts'
import { makeTelemetry } from '../../../src/platform/telemetry.ts'
import { testConfig } from '../../support/config.ts'
import { until } from '../../support/until.ts'

interface Line {
  work: string
  heldMs: number
  msg: string
}

let watch: LoopWatch | undefined
afterEach(() => watch?.stop())

async function watched() {
  const lines: Line[] = []
  const logger = makeLogger({ level: 'warn', destination: { write: (line) => void lines.push(JSON.parse(line)) } })
  const telemetry = await makeTelemetry()
  watch = makeLoopWatch({ logger, telemetry })
  watch.start()
  return { watch, lines, telemetry }
}

/** Uses this much CPU time, on any machine. */
function compute(ms: number): void {
  const begun = process.threadCpuUsage()
  for (;;) {
    const { user, system } = process.threadCpuUsage(begun)
    if ((user + system) / 1000 >= ms) return
  }
}

it('names the work that blocked the event loop, in the log and in metrics', async () => {
  const { watch, lines, telemetry } = await watched()
  watch.run('GET /short', () => compute(1))
  watch.run('POST /inbox', () => compute(300))
  watch.run('GET /after', () => compute(1))
  await until(async () => lines.length > 0, { what: 'a line in the log' })
  expect(lines).toEqual([expect.objectContaining({ work: 'POST /inbox', msg: 'the event loop was blocked' })])
  expect(lines[0]?.heldMs).toBeGreaterThan(200)
  expect(await telemetry.text()).toMatch(/^vireo_event_loop_held_seconds_total\{work="POST \/inbox"\} 0\.[2-9]/m)
})

it('names work that continues after an await', async () => {
  const { watch, lines } = await watched()
  const answered = Promise.withResolvers<void>()
  const waiting = watch.run('lane inbox', async () => {
    await answered.promise
    watch.resumed()
    compute(300)
  })
  watch.run('GET /other', () => compute(1))
  await pause(120)
  answered.resolve()
  await waiting
  await until(async () => lines.length > 0, { what: 'a line in the log' })
  expect(lines.map(({ work }) => work)).toEqual(['lane inbox'])
})

it('names a request by its route, also after its body', async () => {
  const { watch, lines } = await watched()
  const app = await makeApp({
    config: () => testConfig(),
    logger: silentLogger,
    publicUrl: 'http://localhost:9000',
    version: '0',
    authenticate: async () => null,
    loopWatch: watch,
    areas: [
      (area) => {
        area.post('/api/v1/slow/:id', async () => {
          compute(300)
          return {}
        })
      },
    ],
  })
  await app.inject({ method: 'POST', url: '/api/v1/slow/17', payload: { a: 1 } })
  await until(async () => lines.length > 0, { what: 'a line in the log' })
  await app.close()
  expect(lines.map(({ work }) => work)).toEqual(['POST /api/v1/slow/:id'])
})
