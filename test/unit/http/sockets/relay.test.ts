// Requests between processes: responses, timeouts, and confidentiality on the bus.

import { describe, expect, it } from '@jest/globals'
import { makePlaces } from '../../../../src/http/sockets/connection-slots.ts'
import { makeRelay, type Question, type Respond } from '../../../../src/http/sockets/relay.ts'
import { makeSessionIds } from '../../../../src/http/sockets/session-ids.ts'
import type { Bus, JsonValue } from '../../../../src/platform/bus/index.ts'
import { silentLogger } from '../../../../src/platform/logger.ts'
import { makeSecrets } from '../../../../src/platform/secrets.ts'
import { until } from '../../../support/until.ts'

const secrets = makeSecrets({ secret: 'of the test' })
const poll: Question = { what: 'poll', sid: 'a'.repeat(64), body: 'said in confidence' }

function memoryBus(): Pick<Bus, 'publish' | 'subscribe'> & { passed: string[] } {
  const listeners = new Map<string, (payload: JsonValue) => void>()
  const passed: string[] = []
  return {
    passed,
    async publish(topic, payload) {
      const text = JSON.stringify({ topic, payload })
      if (Buffer.byteLength(text) > 7_000) throw new Error('The bus does not carry that.')
      passed.push(text)
      await Promise.resolve()
      listeners.get(topic)?.(JSON.parse(text).payload)
    },
    subscribe(topic, listener) {
      listeners.set(topic, listener)
      return () => listeners.delete(topic)
    },
  }
}

function processes(responds: Record<string, Respond>) {
  const bus = memoryBus()
  const relays = Object.fromEntries(
    Object.entries(responds).map(([name, respond]) => [name, makeRelay({ bus, name, secrets, logger: silentLogger, respond })]),
  )
  const of = (name: string) => {
    const relay = relays[name]
    if (!relay) throw new Error(`There is no process ${name}.`)
    return relay
  }
  return { bus, of }
}

const never: Respond = () => Promise.reject(new Error('Nobody asks it.'))

describe('a request to another process', () => {
  it('is answered, also with a long response, in messages that fit the bus and nobody else can read', async () => {
    const body = 'told in confidence'.repeat(2_000)
    const { bus, of } = processes({ a: never, b: async ({ body: said }) => ({ status: 200, body: said + body }) })
    expect(await of('a').ask('b', poll)).toEqual({ status: 200, body: poll.body + body })
    expect(Math.max(...bus.passed.map((text) => Buffer.byteLength(text)))).toBeLessThan(7_000)
    expect(bus.passed.join()).not.toContain('confidence')
  })

  it('is forwarded to the process that can answer, once', async () => {
    const { of } = processes({
      a: never,
      b: async () => ({ askInstead: 'c' }),
      c: async (_question, { asker, wasPassedOn }) => ({ status: 200, body: `${asker} ${wasPassedOn}` }),
    })
    expect(await of('a').ask('b', poll)).toEqual({ status: 200, body: 'a true' })
  })

  it('is rejected when the response fails', async () => {
    const { of } = processes({ a: never, b: never })
    expect(await of('a').ask('b', poll)).toEqual({ status: 400, body: '' })
  })

  it.each(['\0', '\u{fffd}', '"', 'a'])('is answered or refused, for any 2,000 characters: %j', async (said) => {
    const { of } = processes({ one: never, other: async () => ({ status: 200, body: '' }) })
    const answered = await of('one').ask('other', { ...poll, what: 'post', body: said.repeat(2_000) })
    expect([200, 413]).toContain(answered?.status)
  })

  it('times out when the bus loses messages, without side effects', async () => {
    const bus = { publish: () => Promise.reject(new Error('It is away.')), subscribe: () => () => undefined }
    const relay = makeRelay({ bus, name: 'one', secrets, logger: silentLogger, respond: never })
    const giveUp = new AbortController()
    const answered = relay.ask('other', poll, giveUp.signal)
    giveUp.abort()
    expect(await answered).toBeNull()
  })

  it('times out when that process is gone', async () => {
    const { of } = processes({ a: never })
    expect(await of('a').ask('b', poll)).toBeNull()
  })

  it('is cancelled with its client, and the other process is notified', async () => {
    const client = new AbortController()
    let heard: AbortSignal | undefined
    const { of } = processes({
      a: never,
      b: (_question, { signal }) => {
        heard = signal
        return new Promise(() => undefined)
      },
    })
    const requested = of('a').ask('b', poll, client.signal)
    await until(() => heard)
    client.abort()
    expect(await requested).toBeNull()
    await until(() => heard?.aborted)
    of('b').close()
  })

  it('is not awaited at the end of the process', async () => {
    const { of } = processes({ a: never, b: () => new Promise(() => undefined) })
    const requested = of('a').ask('b', poll)
    of('a').close()
    expect(await requested).toBeNull()
    of('b').close()
  })
})

describe('session ids', () => {
  it('identify their process, in every process of the server and in no other server', () => {
    const [one, two] = [makeSessionIds({ secrets }), makeSessionIds({ secrets })]
    const stranger = makeSessionIds({ secrets: makeSecrets({ secret: 'another' }) })
    const sid = one.make()
    expect(two.processOf(sid)).toBe(one.name)
    expect(stranger.processOf(sid)).toBeUndefined()
    expect(one.make()).not.toBe(sid)
  })

  it.each([[''], ['__proto__'], ['0'.repeat(64)], ['x'.repeat(64)], ['0'.repeat(10_000)]])('%j is invalid', (sid) => {
    expect(makeSessionIds({ secrets }).processOf(sid)).toBeUndefined()
  })
})

describe('request slots', () => {
  it('are limited in total and per client, and released once', () => {
    const places = makePlaces<string>({ most: 3, mostOfOne: 2 })
    const leave = places.take('a')
    places.take('a')
    expect([places.hasPlace('a'), places.hasPlace('b')]).toEqual([false, true])
    places.take('b')
    expect(places.hasPlace('c')).toBe(false)
    leave()
    leave()
    expect([places.hasPlace('a'), places.hasPlace('c')]).toEqual([true, true])
    places.take('a')
    expect(places.hasPlace('c')).toBe(false)
  })
})
