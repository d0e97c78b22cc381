// Metrics of a server: the text format, escaped labels, and values that cannot be read.

import { expect, it } from '@jest/globals'
import { makeTelemetry, type Sample } from '../../../src/platform/telemetry.ts'
import { parseMetrics, seriesValue } from '../../support/prometheus.ts'

it('contains the process and Node', async () => {
  const families = parseMetrics(await (await makeTelemetry()).text())
  for (const name of [
    'process_cpu_seconds_total',
    'process_resident_memory_bytes',
    'nodejs_eventloop_lag_p99_seconds',
    'nodejs_heap_size_used_bytes',
  ]) {
    expect(seriesValue(families, name)).toBeGreaterThanOrEqual(0)
  }
  expect(families.get('nodejs_gc_duration_seconds')?.type).toBe('histogram')
})

it('sums by labels, and ignores values that are not above 0', async () => {
  const telemetry = await makeTelemetry()
  const things = telemetry.counter({ name: 'vireo_things_total', help: 'Things', labels: ['kind'] })
  for (const by of [1, 0.5, -1, 0, Number.NaN]) things.add({ kind: 'a "quoted\\\nkind"' }, by)
  expect(seriesValue(parseMetrics(await telemetry.text()), 'vireo_things_total', { kind: 'a "quoted\\\nkind"' })).toBe(1.5)
})

it('omits unknown values', async () => {
  const telemetry = await makeTelemetry()
  const answers: (() => Sample<never>[] | undefined)[] = [
    () => [{ labels: {}, value: 3 }],
    () => undefined,
    () => {
      throw new Error('away')
    },
    () => [{ labels: {}, value: 4 }],
  ]
  telemetry.gauge({ name: 'vireo_backlog', help: 'Backlog', labels: [], read: () => answers.shift()?.() })
  const seen: (number | undefined)[] = []
  for (let look = 0; look < 4; look += 1) seen.push(seriesValue(parseMetrics(await telemetry.text()), 'vireo_backlog'))
  expect(seen).toEqual([3, undefined, undefined, 4])
})

it('is separate for two servers in one process', async () => {
  const [one, other] = await Promise.all([makeTelemetry(), makeTelemetry()])
  for (const telemetry of [one, other]) {
    telemetry.counter({ name: 'vireo_things_total', help: 'Things', labels: [] }).add({})
  }
  expect(seriesValue(parseMetrics(await one.text()), 'vireo_things_total')).toBe(1)
})
