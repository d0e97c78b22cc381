// The bus between processes: topics over one channel of Redis (pub/sub) or PostgreSQL (LISTEN and NOTIFY).

import { newUuid } from '../ids.ts'
import type { Logger } from '../logger.ts'
import { makeQuietLog } from '../quiet-log.ts'
import type { RedisAddress } from '../redis.ts'
import { openPostgresChannel } from './postgres-channel.ts'
import { openRedisChannel } from './redis-channel.ts'
import type { Bus, Channel, JsonValue } from './types.ts'

export type { Bus, JsonValue } from './types.ts'

export type BusBackEnd = { kind: 'redis'; redis: RedisAddress } | { kind: 'postgres'; connectionString: string }

export interface BusOptions {
  backend: BusBackEnd
  /** Separates several servers on one back end. */
  prefix: string
  logger: Logger
}

interface Message {
  topic: string
  payload: JsonValue
}

/** PostgreSQL's NOTIFY carries less than 8,000 bytes; Redis has no such limit, but both must behave the same. */
const MAX_BYTES = 7_000

/** Connects. Throws if the back end is unavailable. */
export async function makeBus({ backend, prefix, logger }: BusOptions): Promise<Bus> {
  const listeners = new Map<string, Set<(payload: JsonValue) => void>>()
  const self = newUuid()
  const quiet = makeQuietLog(logger)

  const deliver = ({ topic, payload }: Message): void => {
    for (const listener of listeners.get(topic) ?? []) {
      try {
        listener(payload)
      } catch (error) {
        logger.error({ topic, err: error }, 'a listener of the bus failed')
      }
    }
  }

  const receive = (text: string): void => {
    const message = readMessage(text)
    if (!message) quiet('a message of the bus could not be read', 'It is none of this server.')
    else if (message.from !== self) deliver(message)
  }

  const channel = await openChannel({ backend, prefix, logger }, receive)
  return {
    async publish(topic, payload) {
      const message: Message = { topic, payload }
      const bytes = Buffer.byteLength(JSON.stringify(message))
      if (bytes > MAX_BYTES) throw new Error(`A message on "${topic}" has ${bytes} bytes, the bus carries ${MAX_BYTES}: send ids`)
      deliver(message)
      await channel.send(JSON.stringify({ ...message, from: self }))
    },
    subscribe(topic, listener) {
      const ofTopic = listeners.get(topic) ?? new Set()
      listeners.set(topic, ofTopic)
      // The same function may be subscribed twice: each subscription is separate.
      const own = (payload: JsonValue) => listener(payload)
      ofTopic.add(own)
      return () => {
        ofTopic.delete(own)
        if (ofTopic.size === 0 && listeners.get(topic) === ofTopic) listeners.delete(topic)
      }
    },
    close: () => channel.close(),
  }
}

/** Undefined if it is none: others may send on the same channel. */
function readMessage(text: string): (Message & { from?: unknown }) | undefined {
  try {
    const message: unknown = JSON.parse(text)
    const isMessage = typeof message === 'object' && message !== null && typeof Reflect.get(message, 'topic') === 'string'
    return isMessage && 'payload' in message ? (message as Message) : undefined
  } catch {
    return undefined
  }
}

function openChannel({ backend, prefix, logger }: BusOptions, receive: (text: string) => void): Promise<Channel> {
  return backend.kind === 'redis'
    ? openRedisChannel({ address: backend.redis, name: `${prefix}:bus`, logger, receive })
    : openPostgresChannel({ connectionString: backend.connectionString, name: `${prefix}_bus`, logger, receive })
}
