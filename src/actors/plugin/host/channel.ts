// Calls between the server and the process of a plugin: lines of JSON over one stream, in both directions. Bounded on both sides, since the
// process may send anything. Imported by that process too, which can read this folder only, and what host.ts names: no packages here.

import type { Duplex } from 'node:stream'
import { isDeep } from '../../../platform/json-depth.ts'

export class ChannelError extends Error {
  override readonly name = 'ChannelError'
  readonly reason: 'late' | 'refused' | 'closed' | 'full'
  constructor(reason: ChannelError['reason'], message: string = reason) {
    super(message)
    this.reason = reason
  }
}

export const channelLimits = {
  /** Bytes of one message. */
  message: 1024 * 1024,
  /** Bytes and messages that arrive within a second, without the answers to calls. */
  bytesPerSecond: 8 * 1024 * 1024,
  messagesPerSecond: 1000,
  /** Calls at once, in each direction. */
  calls: 100,
  /** Bytes that the other side has not yet read. */
  waiting: 4 * 1024 * 1024,
}

/** A call that has its own place: a process with many calls is not stuck. */
export const PING = 'ping'

const NEWLINE = 0x0a
const LONGEST_REASON = 500
const TOO_LARGE = 'The message is larger than 1 MiB, or nested too deeply.'
/** How far a plugin may be ahead of half of what the server allows. */
const BURST_MS = 250
const NOBODY = { resolve() {}, reject() {} }

export type Channel = ReturnType<typeof openChannel>

export function openChannel(options: {
  stream: Duplex
  /** Answers a call. Its error's message goes to the other side. */
  answer: (name: string, args: unknown) => Promise<unknown>
  /** Called once for a message that breaks the rules; nothing is read afterwards. */
  broken: (reason: string) => void
  /** True in the process of the plugin: what the server sends is not counted. */
  trusting?: boolean
}) {
  const { stream, answer, broken, trusting = false } = options
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>()
  let [serial, answering, isClosed] = [0, 0, false]
  let pieces: Buffer[] = []
  let pending = 0
  const paced: Buffer[] = []
  let mayWriteAt = 0
  let second = { begun: 0, bytes: 0, messages: 0 }

  function close(): void {
    isClosed = true
    pieces = []
    for (const { reject } of waiting.values()) reject(new ChannelError('closed'))
    waiting.clear()
  }

  function refuse(reason: string): void {
    if (isClosed) return
    close()
    stream.destroy()
    broken(reason)
  }

  /** Undefined for a message that the other side would break the connection at: strangers can cause it, by what they ask of the plugin. */
  function lineOf(message: object): Buffer | undefined {
    const line = Buffer.from(`${JSON.stringify(message)}\n`)
    return line.length > channelLimits.message || (trusting && isDeep(line)) ? undefined : line
  }

  function count(bytes: number): void {
    if (trusting) return
    const now = performance.now()
    if (now - second.begun >= 1000) second = { begun: now, bytes: 0, messages: 0 }
    second.bytes += bytes
    second.messages += 1
    if (second.bytes > channelLimits.bytesPerSecond || second.messages > channelLimits.messagesPerSecond) refuse('It sends too much.')
  }

  function send(id: number, answered: { value: unknown } | { error: string }): void {
    if (isClosed) return
    stream.write(lineOf({ id, ...answered }) ?? `${JSON.stringify({ id, error: TOO_LARGE })}\n`)
    if (!trusting && stream.writableLength > channelLimits.waiting) refuse('It does not read what it asked for.')
  }

  /** Writes a call, in the process of a plugin not faster than the server allows: strangers can make a plugin call, by what they ask. */
  function pace(line: Buffer): void {
    if (!trusting) return void stream.write(line)
    paced.push(line)
    if (paced.length === 1) writePaced()
  }

  function writePaced(): void {
    const now = performance.now()
    for (let line = paced[0]; line && !isClosed; line = paced[0]) {
      if (mayWriteAt > now) return void setTimeout(writePaced, mayWriteAt - now)
      const costMs = 2 * Math.max(1000 / channelLimits.messagesPerSecond, (1000 * line.length) / channelLimits.bytesPerSecond)
      mayWriteAt = Math.max(mayWriteAt, now - BURST_MS) + costMs
      stream.write(line)
      paced.shift()
    }
  }

  function take(line: Buffer): void {
    const message = !trusting && isDeep(line) ? undefined : parse(line)
    if (!message) {
      refuse('It sends what is no message.')
      return
    }
    const { id, name, args, value, error } = message
    const caller = name === undefined ? waiting.get(id) : undefined
    if (!caller) count(line.length)
    if (isClosed) return
    if (name !== undefined) {
      void serve(id, name, args)
      return
    }
    waiting.delete(id)
    if (error === undefined) caller?.resolve(value)
    else caller?.reject(new ChannelError('refused', error.slice(0, LONGEST_REASON)))
  }

  async function serve(id: number, name: string, args: unknown): Promise<void> {
    if (!trusting && answering >= channelLimits.calls) return refuse('It makes too many calls at once.')
    answering += 1
    try {
      send(id, { value: (await answer(name, args)) ?? null })
    } catch (error) {
      send(id, { error: String(error instanceof Error ? error.message : error).slice(0, LONGEST_REASON) })
    } finally {
      answering -= 1
    }
  }

  stream.on('data', (data: Buffer) => {
    let from = 0
    for (let end = data.indexOf(NEWLINE); end !== -1 && !isClosed; end = data.indexOf(NEWLINE, from)) {
      const line = Buffer.concat([...pieces, data.subarray(from, end)])
      pieces = []
      pending = 0
      from = end + 1
      if (line.length > channelLimits.message) return refuse('It sends a message that is too large.')
      take(line)
    }
    if (isClosed) return
    pieces.push(data.subarray(from))
    pending += data.length - from
    if (pending > channelLimits.message) refuse('It sends a message that is too large.')
  })
  stream.on('error', () => stream.destroy())
  stream.on('end', close)
  stream.on('close', close)

  return {
    close,
    /** Throws ChannelError: `late` after `withinMs`, `refused` with the message of the other side, `closed`, `full`. */
    call(name: string, args: unknown, withinMs: number): Promise<unknown> {
      return new Promise((resolve, reject) => {
        if (isClosed) return reject(new ChannelError('closed'))
        const most = channelLimits.calls + (name === PING ? 1 : 0)
        if (stream.writableLength > channelLimits.waiting || waiting.size >= most) return reject(new ChannelError('full'))
        const id = ++serial
        const line = lineOf({ id, name, args })
        if (!line) return reject(new ChannelError('full', TOO_LARGE))
        const timer = setTimeout(() => {
          // The server still works on it, and counts it.
          if (trusting) waiting.set(id, NOBODY)
          else waiting.delete(id)
          reject(new ChannelError('late'))
        }, withinMs)
        const done = () => clearTimeout(timer)
        waiting.set(id, {
          resolve(value) {
            done()
            resolve(value)
          },
          reject(error) {
            done()
            reject(error)
          },
        })
        pace(line)
      })
    },
  }
}

interface Message {
  id: number
  name?: string
  args?: unknown
  value?: unknown
  error?: string
}

/** Undefined if it is none. */
function parse(line: Buffer): Message | undefined {
  try {
    const message: unknown = JSON.parse(line.toString('utf8'))
    if (typeof message !== 'object' || message === null || !('id' in message) || typeof message.id !== 'number') return undefined
    const { id } = message
    if ('name' in message)
      return typeof message.name === 'string' ? { id, name: message.name, args: Reflect.get(message, 'args') } : undefined
    if ('error' in message) return typeof message.error === 'string' ? { id, error: message.error } : undefined
    return { id, value: Reflect.get(message, 'value') }
  } catch {
    return undefined
  }
}
