// `/tracker/*`: peer discovery for players and BitTorrent clients. Each process knows the peers that connected to it.

import { isIP } from 'node:net'
import { normalizeIP } from '@fastify/rate-limit'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { DomainError, notFound } from '../../actors/runtime/index.ts'
import { findSwarmAccess } from '../../actors/torrent/index.ts'
import type { Config } from '../../config/index.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Database } from '../../platform/database/index.ts'
import type { Logger } from '../../platform/logger.ts'
import { memoize } from '../../platform/memoize.ts'
import { clientIp } from '../plugins/client-ip.ts'
import type { Area } from '../plugins/types.ts'
import { takeUpgrade } from '../plugins/upgrades.ts'
import { makeAnnounceLimits } from './announce-limits.ts'
import { makeSockets } from './sockets.ts'
import { loadSwarms, type Swarms } from './swarms.ts'

export interface TrackerDeps {
  db: Database
  config: () => Config
  logger: Logger
  clock: Clock
}

/** Adds the tracker over HTTP and WebSocket, if `tracker.enabled` is set. */
export function trackerArea({ db, config, logger, clock }: TrackerDeps): Area {
  return (app) => {
    const sockets = makeSockets({ now: () => clock.now().getTime() })
    const loaded = memoize(() =>
      loadSwarms({
        config,
        logger,
        addressOf: normalizeIP,
        limits: makeAnnounceLimits(config),
        accessOf: (infoHash) => findSwarmAccess(db, infoHash),
      }),
    )
    const swarms = (): Promise<Swarms> => {
      if (!config().tracker.enabled) throw notFound('There is no tracker here.')
      return loaded.get()
    }

    const answer = (reply: FastifyReply, body: Uint8Array) =>
      reply.headers({ 'content-type': 'text/plain', 'cache-control': 'no-store' }).send(body)
    const queryOf = ({ raw }: FastifyRequest): string => raw.url?.split('?', 2)[1] ?? ''

    app.get('/tracker/announce', { schema: { hide: true } }, async (request, reply) =>
      answer(reply, await (await swarms()).announce(queryOf(request), clientIp(request))),
    )
    app.get('/tracker/scrape', { schema: { hide: true } }, async (request, reply) =>
      answer(reply, await (await swarms()).scrape(queryOf(request))),
    )

    app.get('/tracker/socket', { schema: { hide: true } }, async (request, reply) => {
      const { upgrade: accept, ...tracker } = await swarms()
      const ip = clientIp(request).replace(/^::ffff:/, '')
      const address = normalizeIP(ip)
      if (isIP(ip) === 0) throw new DomainError('invalid', 'The address of the client is unknown.')
      if (!sockets.hasPlace(address)) throw new DomainError('busy', 'There are too many connections.')
      const upgrade = takeUpgrade(request, reply)
      if (!upgrade) throw new DomainError('invalid', 'This is an address for WebSockets.')
      const port = request.raw.socket.remotePort ?? 0
      accept(request.raw, upgrade.socket, upgrade.head, (socket) => sockets.add(socket, { ip, port, address }, tracker))
      return reply
    })

    app.addHook('preClose', async () => {
      sockets.close()
      ;(await loaded.made())?.close()
    })
  }
}
