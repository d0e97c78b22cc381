// Limits of the connection to a plugin's process.

import { duplexPair } from 'node:stream'
import { afterEach, describe, expect, it } from '@jest/globals'
import { channelLimits, openChannel } from '../../../src/actors/plugin/host/channel.ts'
import { latch, until } from '../../support/until.ts'

const closers: (() => void)[] = []
afterEach(() => {
  for (const close of closers.splice(0)) close()
})

function pair(answer: (name: string, args: unknown) => Promise<unknown> = async () => null) {
  const [here, there] = duplexPair()
  const broken = Promise.withResolvers<string>()
  const channel = openChannel({ stream: here, answer, broken: broken.resolve })
  closers.push(() => {
    channel.close()
    here.destroy()
    there.destroy()
  })
  there.resume()
  return { channel, there, broken: broken.promise }
}

/** Both ends are channels; the first is that of the server. */
function bothEnds(answer: (name: string, args: unknown) => Promise<unknown>) {
  const [here, there] = duplexPair()
  const broken: string[] = []
  const ends = [
    openChannel({ stream: here, answer, broken: (reason) => broken.push(reason) }),
    openChannel({ stream: there, answer, broken: (reason) => broken.push(reason), trusting: true }),
  ] as const
  closers.push(() => {
    for (const end of ends) end.close()
    here.destroy()
    there.destroy()
  })
  return { ends, broken }
}

const connected = (answer: (name: string, args: unknown) => Promise<unknown>) => bothEnds(answer).ends[0]

describe('a channel', () => {
  it('passes calls, results and errors', async () => {
    const channel = connected(async (name, args) => {
      if (name === 'fail') throw new Error('as asked')
      return { name, args }
    })
    expect(await channel.call('greet', [1, 'ü'], 1000)).toEqual({ name: 'greet', args: [1, 'ü'] })
    await expect(channel.call('fail', null, 1000)).rejects.toMatchObject({ reason: 'refused', message: 'as asked' })
  })

  it.each([
    ['an answer that is too large', 'x'.repeat(channelLimits.message)],
    ['an answer with too many bytes in few characters', 'ü'.repeat(channelLimits.message / 2)],
    ['an answer that is nested too deeply', JSON.parse(`${'['.repeat(200)}${']'.repeat(200)}`)],
  ])('of an honest plugin continues after %s', async (_what, value) => {
    const { ends, broken } = bothEnds(async (name) => (name === 'large' ? value : 1))
    await expect(ends[0].call('large', null, 10_000)).rejects.toMatchObject({
      reason: 'refused',
      message: expect.stringMatching(/too|larger/),
    })
    await expect(ends[1].call('x', value, 10_000)).rejects.toMatchObject({ reason: 'full', message: expect.stringMatching(/larger/) })
    expect(await ends[0].call('small', null, 10_000)).toBe(1)
    expect(broken).toEqual([])
  })

  it('limits messages by bytes, not characters', async () => {
    const { ends, broken } = bothEnds(async () => 1)
    await expect(ends[0].call('x', 'ü'.repeat(channelLimits.message / 2), 10_000)).rejects.toMatchObject({ reason: 'full' })
    expect(await ends[0].call('x', null, 10_000)).toBe(1)
    expect(broken).toEqual([])
  })

  it('has a slot for a ping beside all other calls', async () => {
    const channel = connected((name) => (name === 'ping' ? Promise.resolve(1) : new Promise(() => {})))
    for (let calls = 0; calls < channelLimits.calls; calls += 1) channel.call('x', null, 60_000).catch(() => null)
    expect(await channel.call('ping', null, 10_000)).toBe(1)
  })

  it('of a plugin reuses no slot of a call that the server still processes', async () => {
    const { opened, open } = latch()
    const { ends, broken } = bothEnds(() => opened)
    const calls = Array.from({ length: channelLimits.calls }, () => ends[1].call('x', null, 1))
    for (const call of calls) await expect(call).rejects.toMatchObject({ reason: 'late' })
    await expect(ends[1].call('x', null, 10_000)).rejects.toMatchObject({ reason: 'full' })
    open()
    await until(() =>
      ends[1].call('x', null, 10_000).then(
        () => true,
        () => false,
      ),
    )
    expect(broken).toEqual([])
  })

  it('of a plugin throttles its calls, in order', async () => {
    const seen: unknown[] = []
    const { ends, broken } = bothEnds(async (_name, args) => void seen.push(args))
    const [, plugin] = ends
    const wanted = Array.from({ length: channelLimits.messagesPerSecond + 50 }, (_, at) => at)
    const left = wanted.values()
    const callAll = async () => {
      for (const at of left) await plugin.call('x', at, 60_000)
    }
    await Promise.all(Array.from({ length: channelLimits.calls }, callAll))
    for (let times = 0; times < 12; times += 1) await plugin.call('x', 'x'.repeat(900_000), 60_000)
    expect(broken).toEqual([])
    expect(seen.slice(0, wanted.length)).toEqual(wanted)
  })

  it('times out a call without a response', async () => {
    const channel = connected(() => new Promise(() => {}))
    await expect(channel.call('wait', null, 20)).rejects.toMatchObject({ reason: 'late' })
  })

  it('refuses a message that is too large', async () => {
    const { channel } = pair()
    await expect(channel.call('x', 'x'.repeat(channelLimits.message), 1000)).rejects.toMatchObject({ reason: 'full' })
  })

  it('refuses calls beyond its limit, and continues', async () => {
    const free = Promise.withResolvers<void>()
    const channel = connected(() => free.promise)
    const calls = Array.from({ length: channelLimits.calls }, () => channel.call('x', null, 10_000))
    await expect(channel.call('x', null, 10_000)).rejects.toMatchObject({ reason: 'full' })
    free.resolve()
    expect(await Promise.all(calls)).toHaveLength(channelLimits.calls)
    expect(await channel.call('x', null, 10_000)).toBeNull()
  })

  it('makes the maximum number of calls, with the largest responses', async () => {
    const channel = connected(async () => 'x'.repeat(900_000))
    for (let times = 0; times < 12; times++) await channel.call('x', null, 10_000)
    const small = connected(async () => 1)
    for (let times = 0; times < channelLimits.messagesPerSecond + 10; times++) await small.call('x', null, 10_000)
    expect(await small.call('x', null, 10_000)).toBe(1)
  })

  it('rejects its calls when it closes', async () => {
    const { channel, there } = pair()
    const call = channel.call('x', null, 10_000)
    there.end()
    await expect(call).rejects.toMatchObject({ reason: 'closed' })
    await expect(channel.call('x', null, 10_000)).rejects.toMatchObject({ reason: 'closed' })
  })

  it.each([
    ['what is no JSON', 'hello\n'],
    ['JSON that is no message', '[1]\n'],
    ['a call without a text as its name', '{"id":1,"name":{}}\n'],
    ['a line that is too large', `"${'x'.repeat(channelLimits.message)}"\n`],
    ['a line without an end', 'x'.repeat(channelLimits.message + 1)],
    ['a message that is nested too deeply', `{"id":0,"value":${'['.repeat(200)}${']'.repeat(200)}}\n`],
    ['too many messages', '{"id":0,"value":1}\n'.repeat(channelLimits.messagesPerSecond + 1)],
    ['too many bytes', `{"id":0,"value":"${'x'.repeat(900_000)}"}\n`.repeat(10)],
  ])('breaks at %s', async (_what, text) => {
    const { there, broken } = pair()
    there.write(text)
    expect(await broken).toMatch(/^It sends/)
  })

  it('breaks at too many simultaneous calls', async () => {
    const { there, broken } = pair(() => new Promise(() => {}))
    there.write('{"id":1,"name":"x"}\n'.repeat(channelLimits.calls + 1))
    expect(await broken).toBe('It makes too many calls at once.')
  })

  it('breaks at unread responses', async () => {
    const { there, broken } = pair(async () => 'x'.repeat(900_000))
    there.pause()
    for (let id = 0; id < 10; id++) there.write(`{"id":${id},"name":"x"}\n`)
    expect(await broken).toBe('It does not read what it asked for.')
  })

  it('ignores responses without a call', async () => {
    const channel = connected(async () => 1)
    const { there, channel: other } = pair()
    there.write('{"id":77,"value":1}\n{"id":78,"error":"no"}\n')
    expect(await channel.call('x', null, 1000)).toBe(1)
    await expect(other.call('x', null, 20)).rejects.toMatchObject({ reason: 'late' })
  })
})
