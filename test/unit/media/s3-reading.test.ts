// One stream over several connections: lost connections, and reconnection.

import { once } from 'node:events'
import { PassThrough, Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from '@jest/globals'
import { StorageOutage } from '../../../src/media/index.ts'
import { readOn } from '../../../src/media/store/s3-reading.ts'
import { until } from '../../support/until.ts'

const reset = () => Object.assign(new Error('read'), { code: 'ECONNRESET' })
const broken = (bytes: string) =>
  Readable.from(
    (async function* () {
      yield Buffer.from(bytes)
      throw reset()
    })(),
    { objectMode: false },
  )
const whole = (bytes: string) => Readable.from([Buffer.from(bytes)], { objectMode: false })

/** Responses in turn, and the requested ranges. */
function answers(...bodies: (() => Readable | undefined)[]) {
  const requested: number[] = []
  const reopen = async (from: number) => {
    requested.push(from)
    return bodies[requested.length - 1]?.()
  }
  return { requested, reopen }
}

describe("an object's bytes", () => {
  it('continue where a connection broke, and where a response ended early', async () => {
    const { requested, reopen } = answers(
      () => whole('de'),
      () => whole('f'),
    )
    expect(await text(readOn({ first: broken('abc'), length: 6, reopen }))).toBe('abcdef')
    expect(requested).toEqual([3, 5])
  })

  it('are complete when the connection is lost after the last of them', async () => {
    const { requested, reopen } = answers()
    expect(await text(readOn({ first: broken('abc'), length: 3, reopen }))).toBe('abc')
    expect(await text(readOn({ first: whole(''), length: 0, reopen }))).toBe('')
    expect(await text(readOn({ first: whole('abc'), length: undefined, reopen }))).toBe('abc')
    expect(requested).toEqual([])
  })

  it('end with an outage after a few attempts, and at once with a refusal or without a way to continue', async () => {
    let tries = 0
    const outage = async () => {
      tries += 1
      throw new StorageOutage('away')
    }
    await expect(text(readOn({ first: broken('a'), length: 2, reopen: outage }))).rejects.toThrow('away')
    expect(tries).toBe(3)
    const refused = async () => {
      throw new Error('refused')
    }
    await expect(text(readOn({ first: broken('a'), length: 2, reopen: refused }))).rejects.toThrow('refused')
    const reading = text(readOn({ first: broken('a'), length: 2, reopen: undefined }))
    await expect(reading).rejects.toBeInstanceOf(StorageOutage)
  })

  it('are requested again only when the reader continues', async () => {
    const first = new PassThrough()
    const { requested, reopen } = answers(() => whole('c'))
    const full = 2 ** 20
    const stream = readOn({ first, length: full + 1, reopen })
    first.write(Buffer.alloc(full, 'b'))
    await once(stream, 'readable')
    await until(() => stream.readableLength >= stream.readableHighWaterMark)
    const closed = new Promise((resolve) => first.once('close', resolve))
    first.destroy(reset())
    await closed
    expect(requested).toEqual([])
    expect(await text(stream)).toBe(`${'b'.repeat(full)}c`)
    expect(requested).toEqual([full])
  })

  it('are buffered only a little when nobody reads', async () => {
    let made = 0
    const first = new Readable({
      read() {
        made += 2 ** 16
        this.push(Buffer.alloc(2 ** 16))
      },
    })
    const stream = readOn({ first, length: undefined, reopen: undefined })
    await once(stream, 'readable')
    stream.destroy()
    await once(stream, 'close')
    expect(made).toBeLessThanOrEqual(2 ** 19)
    expect(first.destroyed).toBe(true)
  })

  it('are aborted, including the next connection, when the reader stops', async () => {
    const opening = Promise.withResolvers<AbortSignal>()
    const next = Promise.withResolvers<Readable>()
    const stream = readOn({
      first: broken('a'),
      length: 2,
      reopen: (_from, signal) => {
        opening.resolve(signal)
        return next.promise
      },
    })
    stream.resume()
    const signal = await opening.promise
    stream.destroy()
    expect(signal.aborted).toBe(true)
    const late = whole('b')
    next.resolve(late)
    await until(() => late.destroyed)
    const leaving = new AbortController()
    const left = readOn({ first: new PassThrough(), length: 2, reopen: undefined, signal: leaving.signal })
    const failure = once(left, 'error')
    leaving.abort()
    expect(await failure).toMatchObject([{ name: 'AbortError' }])
  })
})
