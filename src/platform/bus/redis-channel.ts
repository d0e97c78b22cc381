// A Redis pub/sub channel: one connection that publishes, and one that listens and resubscribes after an outage.

import type { Logger } from '../logger.ts'
import { connectRedis, type RedisAddress } from '../redis.ts'
import type { Channel } from './types.ts'

export async function openRedisChannel(options: {
  address: RedisAddress
  name: string
  logger: Logger
  receive: (text: string) => void
}): Promise<Channel> {
  const { address, name, logger, receive } = options
  const publisher = await connectRedis({ address, logger })
  const subscriber = await connectRedis({ address, logger, mode: 'patient' }).catch((error: unknown) => {
    publisher.disconnect()
    throw error
  })
  subscriber.on('message', (_channel, text) => receive(text))
  await subscriber.subscribe(name)
  return {
    async send(text) {
      try {
        await publisher.publish(name, text)
      } catch (error) {
        logger.debug({ error: String(error) }, 'a message of the bus was lost')
      }
    },
    async close() {
      publisher.disconnect()
      subscriber.disconnect()
    },
  }
}
