// The log of decisions about inbound activities: complete in the log, aggregated in rows.

import { expect, it } from '@jest/globals'
import { pino } from 'pino'
import { makeInboundJournal, type NotedDecision } from '../../../src/actors/inbound-decision/index.ts'
import { fakeClock } from '../../support/clock.ts'
import { testConfig } from '../../support/config.ts'

const flag: NotedDecision = {
  verdict: 'later',
  reason: 'too_many_reports',
  kind: 'Flag',
  host: 'Peer.example',
  actorUrl: 'https://peer.example/mallory',
  activityId: 'https://peer.example/1',
}

function start(options: { isDown?: boolean } = {}) {
  const lines: Record<string, unknown>[] = []
  const stored: (readonly unknown[])[] = []
  const logger = pino({ level: 'debug', base: null }, { write: (line) => void lines.push(JSON.parse(line)) })
  const journal = makeInboundJournal({
    db: {
      query: async (_text, values) => {
        if (options.isDown) throw new Error('The database is away.')
        stored.push(values ?? [])
        return []
      },
    },
    registry: { periodic: () => undefined },
    clock: fakeClock(),
    logger,
    config: () => testConfig(),
  })
  return { journal, lines, stored }
}

it('a thousand of a kind are one row; the log has the first one, the others at a lower level, and their sum', async () => {
  const { journal, lines, stored } = start()
  for (let n = 0; n < 1000; n += 1) journal.note({ ...flag, activityId: `https://peer.example/${n}` })
  await journal.flush()
  expect(lines.filter(({ level }) => level === 30)).toEqual([
    expect.objectContaining({
      verdict: 'later',
      reason: 'too_many_reports',
      kind: 'Flag',
      host: 'Peer.example',
      actor: 'https://peer.example/mallory',
      activity: 'https://peer.example/0',
    }),
    expect.objectContaining({ reason: 'too_many_reports', host: 'peer.example', count: 1000 }),
  ])
  expect(lines.filter(({ level }) => level === 20)).toHaveLength(999)
  const [values] = stored
  expect(values?.map((column) => (column as unknown[])[0]).slice(0, 5)).toEqual(['peer.example', 'too_many_reports', 'Flag', 'later', 1000])
  expect(values?.every((column) => (column as unknown[]).length === 1)).toBe(true)
  expect(values?.at(-2)).toEqual(['https://peer.example/999'])
  await journal.flush()
  expect(stored).toHaveLength(1)
})

it('the number of sums is bounded for any number of hosts, and the rest has no host', async () => {
  const { journal, stored } = start()
  for (let n = 0; n < 10_000; n += 1) journal.note({ ...flag, host: `${n}.example` })
  await journal.flush()
  const [hosts, , , , counts] = stored[0] ?? []
  expect((hosts as string[]).length).toBeLessThanOrEqual(2001)
  const nobody = (hosts as string[]).indexOf('')
  expect((counts as number[])[nobody]).toBe(8000)
  expect((counts as number[]).reduce((sum, count) => sum + count, 0)).toBe(10_000)
})

it('stores no URL that is too long, and survives a database outage', async () => {
  const { journal, stored } = start()
  journal.note({ ...flag, activityId: `https://peer.example/${'x'.repeat(3000)}` })
  await journal.flush()
  expect(stored[0]?.at(-2)).toEqual([null])
  const away = start({ isDown: true })
  away.journal.note(flag)
  await away.journal.flush()
  expect(away.lines.at(-1)).toMatchObject({ level: 40, msg: expect.stringContaining('could not be counted') })
})
