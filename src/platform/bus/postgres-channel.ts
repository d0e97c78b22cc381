// A PostgreSQL channel: one connection that listens and notifies, and reconnects after an outage.

import pg from 'pg'
import { batched } from '../batched.ts'
import type { Logger } from '../logger.ts'
import type { Channel } from './types.ts'

const FIRST_RETRY_MS = 100
const MAX_RETRY_MS = 2_000
const CONNECT_TIMEOUT_MS = 10_000
const SENT_AT_ONCE = 100

export async function openPostgresChannel(options: {
  connectionString: string
  name: string
  logger: Logger
  receive: (text: string) => void
}): Promise<Channel> {
  const { connectionString, name, logger, receive } = options
  let client: pg.Client | undefined
  let timer: NodeJS.Timeout | undefined
  let closed = false

  const connect = async (): Promise<void> => {
    const next = new pg.Client({
      connectionString,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      application_name: 'vireo-bus',
    })
    next.on('error', () => {})
    next.on('notification', ({ payload }) => payload !== undefined && receive(payload))
    try {
      await next.connect()
      await next.query(`listen ${pg.escapeIdentifier(name)}`)
    } catch (error) {
      void next.end().catch(() => {})
      throw error
    }
    if (closed) return next.end()
    client = next
    next.once('end', () => {
      if (client !== next) return
      client = undefined
      if (closed) return
      logger.warn('the bus lost its connection to PostgreSQL, reconnecting')
      reconnect(FIRST_RETRY_MS)
    })
  }

  const reconnect = (delayMs: number): void => {
    timer = setTimeout(() => {
      connect().then(
        () => !closed && logger.info('the bus is connected again'),
        () => !closed && reconnect(Math.min(delayMs * 2, MAX_RETRY_MS)),
      )
    }, delayMs).unref()
  }

  // A connection carries one statement at a time. PostgreSQL merges equal messages of one statement, which is enough to know that something
  // changed.
  const notify = batched<string, void>(
    async (texts) => {
      if (!client) throw new Error('not connected')
      await client.query(
        'select pg_notify($1, m.text) from unnest((select $2::text[])) with ordinality as m (text, place) order by m.place',
        [name, texts],
      )
      return texts.map(() => undefined)
    },
    { max: SENT_AT_ONCE },
  )

  await connect()
  return {
    async send(text) {
      try {
        await notify(text)
      } catch (error) {
        logger.debug({ error: String(error) }, 'a message of the bus was lost')
      }
    },
    async close() {
      closed = true
      clearTimeout(timer)
      await client?.end().catch(() => {})
    },
  }
}
