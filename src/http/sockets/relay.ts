// Requests between the processes of a server, over the bus. Messages are encrypted, since they contain what clients send and receive.

import { z } from 'zod'
import type { Bus } from '../../platform/bus/index.ts'
import { randomToken } from '../../platform/ids.ts'
import type { Logger } from '../../platform/logger.ts'
import type { Secrets } from '../../platform/secrets.ts'

const question = z.object({ what: z.enum(['poll', 'post', 'move']), sid: z.string(), body: z.string() })
const answer = z.object({ status: z.number(), body: z.string() })

export type Question = z.infer<typeof question>
export type RelayedAnswer = z.infer<typeof answer>

/** Answers a request of another process, or names the process that can. */
export type Respond = (
  question: Question,
  from: { asker: string; signal: AbortSignal; wasPassedOn: boolean },
) => Promise<RelayedAnswer | { askInstead: string }>

/** A living process responds within this time, and again while a poll lasts. */
const HELD_WITHIN_MS = 2_000
const HOLD_EVERY_MS = 5_000
const HELD_AGAIN_WITHIN_MS = 12_000
/** Characters of one message of the bus, which carries 7,000 bytes. */
const PIECE = 6_000

const message = z.union([
  z.object({ ask: z.string(), asker: z.string(), sealed: z.string(), wasPassedOn: z.boolean() }),
  z.object({ held: z.string(), by: z.string() }),
  z.object({ answer: z.string(), at: z.number(), of: z.number(), piece: z.string() }),
  z.object({ cancel: z.string() }),
])
type Message = z.infer<typeof message>

interface Asked {
  heldBy: string | undefined
  pieces: string[]
  settle(answer: RelayedAnswer | null): void
  isHeld(): void
}

export function makeRelay(options: {
  bus: Pick<Bus, 'publish' | 'subscribe'>
  /** Name of this process. */
  name: string
  secrets: Pick<Secrets, 'seal' | 'open'>
  logger: Logger
  respond: Respond
}) {
  const { bus, name, secrets, logger, respond } = options
  const asked = new Map<string, Asked>()
  const answering = new Map<string, AbortController>()
  const topicOf = (process: string) => `sockets:${process}`
  const send = (process: string, sent: Message): void => {
    bus.publish(topicOf(process), sent).catch((error: unknown) => {
      logger.warn({ err: error }, 'a message to another process was not sent')
    })
  }

  const unsubscribe = bus.subscribe(topicOf(name), (payload) => {
    const read = message.safeParse(payload).data
    if (!read) return
    if ('ask' in read) void respondTo(read)
    else if ('cancel' in read) answering.get(read.cancel)?.abort()
    else if ('held' in read) {
      const waiting = asked.get(read.held)
      if (waiting) waiting.heldBy = read.by
      waiting?.isHeld()
    } else take(read)
  })

  async function respondTo({ ask: id, asker, sealed, wasPassedOn }: Extract<Message, { ask: string }>): Promise<void> {
    const controller = new AbortController()
    const { signal } = controller
    const hold = () => send(asker, { held: id, by: name })
    const holding = setInterval(hold, HOLD_EVERY_MS).unref()
    answering.set(id, controller)
    hold()
    try {
      const read = question.parse(JSON.parse(secrets.open(sealed)))
      const result = await respond(read, { asker, signal, wasPassedOn })
      if ('askInstead' in result) send(result.askInstead, { ask: id, asker, sealed, wasPassedOn: true })
      else sendAnswer(asker, id, result)
    } catch (error) {
      // Usually the session ended in between.
      if (!signal.aborted) logger.debug({ err: error }, 'a question of another process was not answered')
      sendAnswer(asker, id, { status: 400, body: '' })
    } finally {
      clearInterval(holding)
      answering.delete(id)
    }
  }

  function sendAnswer(asker: string, id: string, result: RelayedAnswer): void {
    const text = secrets.seal(JSON.stringify(result))
    const of = Math.ceil(text.length / PIECE)
    for (let at = 0; at < of; at += 1) {
      send(asker, { answer: id, at, of, piece: text.slice(at * PIECE, (at + 1) * PIECE) })
    }
  }

  function take({ answer: id, at, of, piece }: Extract<Message, { answer: string }>): void {
    const waiting = asked.get(id)
    if (!waiting) return
    waiting.pieces[at] = piece
    if (Object.keys(waiting.pieces).length < of) return
    try {
      waiting.settle(answer.parse(JSON.parse(secrets.open(waiting.pieces.join('')))))
    } catch (error) {
      logger.debug({ err: error }, 'an answer of another process could not be read')
      waiting.settle(null)
    }
  }

  return {
    /** Null if that process is gone or does not respond; 413 for a request that the bus cannot carry. */
    ask(process: string, question: Question, signal?: AbortSignal): Promise<RelayedAnswer | null> {
      if (signal?.aborted) return Promise.resolve(null)
      const sealed = secrets.seal(JSON.stringify(question))
      // Encryption adds some bytes; no sensible message is this long.
      if (sealed.length > PIECE) return Promise.resolve({ status: 413, body: '' })
      const id = `${name}${randomToken(8)}`
      return new Promise((resolve) => {
        const giveUp = () => {
          send(waiting.heldBy ?? process, { cancel: id })
          waiting.settle(null)
        }
        let timer = setTimeout(giveUp, HELD_WITHIN_MS)
        const waiting: Asked = {
          heldBy: undefined,
          pieces: [],
          isHeld() {
            clearTimeout(timer)
            timer = setTimeout(giveUp, HELD_AGAIN_WITHIN_MS)
          },
          settle(result) {
            clearTimeout(timer)
            signal?.removeEventListener('abort', giveUp)
            asked.delete(id)
            resolve(result)
          },
        }
        asked.set(id, waiting)
        signal?.addEventListener('abort', giveUp, { once: true })
        send(process, { ask: id, asker: name, sealed, wasPassedOn: false })
      })
    },
    /** Refuses pending requests of others, and drops its own. */
    close() {
      unsubscribe()
      for (const { settle } of asked.values()) settle(null)
      for (const controller of answering.values()) controller.abort()
    },
  }
}
