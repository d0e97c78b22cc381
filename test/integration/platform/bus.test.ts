// The contract of the bus, the same on both back ends.

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { type Bus, type JsonValue, makeBus } from '../../../src/platform/bus/index.ts'
import { makeLogger, silentLogger } from '../../../src/platform/logger.ts'
import { backEnds, type TestBackEnd } from '../../support/back-ends.ts'
import { eventually } from '../../support/until.ts'

describe.each(backEnds)('the bus on $kind', ({ open }) => {
  let backEnd: TestBackEnd
  let here: Bus
  let there: Bus

  beforeEach(async () => {
    backEnd = await open()
    const make = () => makeBus({ backend: backEnd.bus, prefix: backEnd.prefix, logger: silentLogger })
    here = await make()
    there = await make()
  })

  afterEach(async () => {
    await Promise.all([here.close(), there.close()])
    await backEnd.drop()
  })

  const record = (bus: Bus, topic: string): JsonValue[] => {
    const got: JsonValue[] = []
    bus.subscribe(topic, (payload) => got.push(payload))
    return got
  }

  it('reaches every process, the sender included, in order', async () => {
    const [mine, remote] = [record(here, 'token'), record(there, 'token')]
    const payloads = [{ user: 1, name: 'Grüße "👋"' }, [1, null, true], 'text', 5, null]
    for (const payload of payloads) await here.publish('token', payload)
    await eventually(() => {
      expect(mine).toEqual(payloads)
      expect(remote).toEqual(payloads)
    })
  })

  it('reaches the listeners of the sender synchronously, and once', async () => {
    const [mine, remote] = [record(here, 'token'), record(there, 'token')]
    const sent = here.publish('token', 1)
    expect(mine).toEqual([1])
    await sent
    await there.publish('token', 2)
    await eventually(() =>
      expect([mine, remote.toSorted()]).toEqual([
        [1, 2],
        [1, 2],
      ]),
    )
  })

  it('keeps topics apart', async () => {
    const [tokens, videos] = [record(there, 'token'), record(there, 'video')]
    await here.publish('video', 1)
    await here.publish('nobody', 2)
    await here.publish('token', 3)
    await eventually(() => expect(tokens).toEqual([3]))
    expect(videos).toEqual([1])
  })

  it('keeps servers with different prefixes apart', async () => {
    const foreign = await makeBus({ backend: backEnd.bus, prefix: `${backEnd.prefix}2`, logger: silentLogger })
    const [mine, remote] = [record(here, 'token'), record(foreign, 'token')]
    await foreign.publish('token', 'foreign')
    await here.publish('token', 'mine')
    await eventually(() => expect([mine, remote]).toEqual([['mine'], ['foreign']]))
    await foreign.close()
  })

  it('no longer calls a listener that unsubscribed, but all others', async () => {
    const got: string[] = []
    const listener = (payload: JsonValue) => got.push(`same ${payload}`)
    const off = here.subscribe('token', listener)
    here.subscribe('token', listener)
    off()
    off()
    await here.publish('token', 1)
    await eventually(() => expect(got).toEqual(['same 1']))
  })

  it('continues when a listener throws', async () => {
    here.subscribe('token', () => {
      throw new Error('no')
    })
    const got = record(here, 'token')
    await there.publish('token', 1)
    await there.publish('token', 2)
    await eventually(() => expect(got).toEqual([1, 2]))
  })

  it.each(['not json', 'null', '5', '"text"', '[]', '{}', '{"topic":5,"payload":1}'])('ignores what is no message: %s', async (text) => {
    const got = record(here, 'token')
    await backEnd.say(text)
    await there.publish('token', 1)
    await eventually(() => expect(got).toEqual([1]))
  })

  it('says once that others send what it cannot read', async () => {
    const lines: string[] = []
    const logger = makeLogger({ level: 'warn', destination: { write: (line) => void lines.push(line) } })
    const third = await makeBus({ backend: backEnd.bus, prefix: backEnd.prefix, logger })
    const got = record(third, 'token')
    for (const text of ['not json', 'nor this', 'not json']) await backEnd.say(text)
    await there.publish('token', 1)
    await eventually(() => expect(got).toEqual([1]))
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ msg: 'a message of the bus could not be read' }])
    expect(lines.join()).not.toContain('not json')
    await third.close()
  })

  it('carries 6,900 bytes and refuses more than 7,000 with a clear error', async () => {
    const got = record(there, 'token')
    await here.publish('token', 'ä'.repeat(3_450))
    await expect(here.publish('token', 'ä'.repeat(3_500))).rejects.toThrow('"token" has 7030 bytes, the bus carries 7000')
    await eventually(() => expect(got).toEqual(['ä'.repeat(3_450)]))
  })

  it('drops messages after it is closed, without an error', async () => {
    const got = record(there, 'token')
    await here.close()
    await here.publish('token', 1)
    await there.publish('token', 2)
    await eventually(() => expect(got).toEqual([2]))
  })
})
