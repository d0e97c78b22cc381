// Ten thousand viewers for ten minutes are one activity per video and interval.

import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { startViewsHarness, type ViewsHarness } from './harness.ts'

const VIEWERS = 10_000
const STEP_MS = 10_000
const MINUTES = 10
/** Each viewer reports once a minute, a sixth of them in each step. */
const GROUPS = 6

let harness: ViewsHarness
beforeAll(async () => {
  harness = await startViewsHarness()
})
afterAll(async () => {
  await harness?.stop()
})

it('10,000 viewers of one video are one activity per interval, and leave no pending work', async () => {
  const sent: { at: number; event: string; viewers: number }[] = []
  const waiting: number[] = []
  const start = harness.clock.now().getTime()
  for (let step = 0; step < (MINUTES * 60_000) / STEP_MS; step += 1) {
    const seconds = Math.floor(step / GROUPS) * 60
    await Promise.all(
      Array.from({ length: VIEWERS / GROUPS }, (_, index) =>
        harness.views.watch({
          videoId: harness.ours.id,
          watcher: { session: `viewer ${index * GROUPS + (step % GROUPS)}`, address: '192.0.2.1' },
          seconds,
          isSeek: false,
        }),
      ),
    )
    await harness.views.process()
    for (const { event, payload } of await harness.takeEvents()) {
      sent.push({ at: harness.clock.now().getTime() - start, event, viewers: payload.viewers ?? 0 })
    }
    const [row] = await harness.db.query<{ signs: number; jobs: number }>(
      'select (select count(*)::int from view_sign) as signs, (select count(*)::int from job) as jobs',
    )
    waiting.push(row?.signs ?? -1)
    expect(row?.jobs).toBeLessThanOrEqual(1)
    harness.clock.pass(STEP_MS)
  }
  expect(new Set(waiting)).toEqual(new Set([0]))
  expect(new Set(sent.map(({ event }) => event))).toEqual(new Set(['ViewersCounted']))
  const gaps = sent.slice(1).map(({ at }, index) => at - (sent[index]?.at ?? 0))
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(60_000)
  expect(sent).toHaveLength(MINUTES)
  expect(sent.at(-1)?.viewers).toBe(Math.floor(VIEWERS / GROUPS) * GROUPS)
  expect(await harness.shown(harness.ours)).toMatchObject({ views: Math.floor(VIEWERS / GROUPS) * GROUPS })
})
