// `/socket.io/`: pushes to clients, over long polls and WebSockets of Socket.IO.

import type { IncomingMessage } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../../actors/runtime/index.ts'
import type { Bus } from '../../platform/bus/index.ts'
import type { Logger } from '../../platform/logger.ts'
import { makeLru } from '../../platform/lru.ts'
import type { Secrets } from '../../platform/secrets.ts'
import type { Telemetry } from '../../platform/telemetry.ts'
import { HttpError } from '../plugins/http-error.ts'
import { countedAddress } from '../plugins/rate-limit.ts'
import type { Area } from '../plugins/types.ts'
import { takeUpgrade } from '../plugins/upgrades.ts'
import { makePlaces } from './connection-slots.ts'
import { MAX_MESSAGE, makeEngine, PATH, queryOf, sidOf } from './engine.ts'
import type { SocketNamespace } from './namespaces.ts'
import { makeRemoteSessions } from './remote-sessions.ts'
import { makeSessionIds } from './session-ids.ts'

export interface SocketsDeps {
  namespaces: readonly SocketNamespace[]
  bus: Pick<Bus, 'publish' | 'subscribe'>
  secrets: Pick<Secrets, 'hmac' | 'seal' | 'open'>
  logger: Logger
  telemetry: Telemetry | undefined
}

/** Concurrent requests that are relayed to other processes. */
const MAX_RELAYED = 10_000
const MAX_RELAYED_OF_AN_ADDRESS = 200
/** Per address and period; a client that only polls has four in 25 seconds. */
const MAX_RELAYED_IN_TIME = 1_000
const COUNTED_MS = 10_000
const MAX_COUNTED = 50_000

/** Adds the namespaces of Socket.IO; they end with the application. */
export function socketsArea({ namespaces, bus, secrets, logger, telemetry }: SocketsDeps): Area {
  return (app) => {
    const ids = makeSessionIds({ secrets })
    const engine = makeEngine({ newSid: ids.make, namespaces, logger })
    const elsewhere = makeRemoteSessions({ engine, ids, bus, secrets, logger })
    const relayed = makePlaces<string>({ most: MAX_RELAYED, mostOfOne: MAX_RELAYED_OF_AN_ADDRESS })
    const recent = makeLru<string, { count: number }>(MAX_COUNTED, { ttl: COUNTED_MS })
    let isEnding = false
    telemetry?.gauge({
      name: 'vireo_sockets',
      help: 'Clients of Socket.IO that are connected to this process',
      labels: ['namespace'],
      read: () => namespaces.map(({ name, count }) => ({ labels: { namespace: name }, value: count() })),
    })

    // The library reads the bodies.
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', (_request, payload, done) => done(null, payload))

    app.route({
      method: ['GET', 'POST'],
      url: PATH,
      schema: { hide: true },
      handler: (request, reply) => answer(request, reply),
    })

    async function answer(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
      if (isEnding) throw new DomainError('unavailable', 'The server is ending.')
      // The library expects its path with a trailing slash, which the router removes.
      request.raw.url = `${PATH}${request.url.slice(request.url.split('?', 1)[0]?.length)}`
      refuseOthers(request)
      const address = countedAddress(request)
      const sid = sidOf(request.raw)
      if (sid === undefined) {
        await app.rateLimits.take('api', request, reply)
        if (!engine.hasPlace(address)) throw new DomainError('busy', 'There are too many connections.')
      } else if (!(await elsewhere.isHere(sid))) {
        if (!asksForWebSocket(request)) return await pass(request, reply, { sid, address })
        // The token is looked up again.
        await app.rateLimits.take('api', request, reply)
        if (!engine.hasPlace(address) || !(await elsewhere.bring(sid, request.raw, address))) {
          throw unknownSession()
        }
      } else if (!engine.has(sid)) throw unknownSession()
      const upgrade = takeUpgrade(request, reply)
      if (upgrade) engine.upgrade(request.raw, upgrade, address)
      else engine.answer(request.raw, takeOver(reply), address)
      return reply
    }

    function isTooMany(address: string): boolean {
      const counted = recent.get(address) ?? { count: 0 }
      if (counted.count === 0) recent.set(address, counted)
      counted.count += 1
      return counted.count > MAX_RELAYED_IN_TIME
    }

    /** Relays it as if it had arrived at the process of the session. */
    async function pass(
      request: FastifyRequest,
      reply: FastifyReply,
      { sid, address }: { sid: string; address: string },
    ): Promise<FastifyReply> {
      if (!relayed.hasPlace(address)) throw new DomainError('busy', 'There are too many connections.')
      if (isTooMany(address)) throw new HttpError(429, 'Too many requests, please try again later.')
      const leave = relayed.take(address)
      const hungUp = new AbortController()
      reply.raw.once('close', () => hungUp.abort())
      try {
        const body = request.method === 'POST' ? await textOf(request.raw) : ''
        const what = request.method === 'POST' ? 'post' : 'poll'
        const given = await elsewhere.ask({ what, sid, body }, hungUp.signal)
        if (given?.status === 413) throw tooLarge()
        if (given?.status !== 200) throw unknownSession()
        return await reply.headers({ 'content-type': 'text/plain; charset=UTF-8', 'cache-control': 'no-store' }).send(given.body)
      } finally {
        leave()
      }
    }

    app.addHook('preClose', async () => {
      isEnding = true
      await engine.close()
      elsewhere.close()
    })
  }
}

/** The client starts a new session. */
const unknownSession = (): DomainError => new DomainError('invalid', 'The session is not known here.')
const tooLarge = (): HttpError => new HttpError(413, 'The body is larger than allowed.')

/** Refuses requests that are not Engine.IO 4; the library refuses the rest. */
function refuseOthers({ method, raw: { url = '' } }: FastifyRequest): void {
  const { EIO, transport } = Object.fromEntries(queryOf(url))
  if (method === 'HEAD' || EIO !== '4' || (transport !== 'polling' && transport !== 'websocket')) {
    throw new DomainError('invalid', 'This is an address for clients of Socket.IO (protocol 4 of Engine.IO).')
  }
}

const asksForWebSocket = ({ raw }: FastifyRequest): boolean => raw.headers.upgrade?.toLowerCase() === 'websocket'

/** The library writes the response, with the default headers. */
function takeOver(reply: FastifyReply) {
  reply.hijack()
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) reply.raw.setHeader(name, value)
  }
  return reply.raw
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request) {
    const bytes = Buffer.from(chunk)
    length += bytes.length
    if (length > MAX_MESSAGE) throw tooLarge()
    chunks.push(bytes)
  }
  return Buffer.concat(chunks).toString('utf8')
}
