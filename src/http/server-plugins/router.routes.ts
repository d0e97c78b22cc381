// Requests to the routers of plugins, their WebSockets, and the beginnings of their logins, at the addresses of the contract.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { WebSocketServer } from 'ws'
import { z } from 'zod'
import { LARGEST_MESSAGE, type PluginAnswer, type PluginCalls, type PluginRequest, type PluginSockets } from '../../actors/plugin/index.ts'
import { DomainError } from '../../actors/runtime/index.ts'
import { makeLoginCookie } from '../external-logins/cookie.ts'
import { HttpError } from '../plugins/http-error.ts'
import { countedAddress } from '../plugins/rate-limit.ts'
import type { Area } from '../plugins/types.ts'
import { takeUpgrade } from '../plugins/upgrades.ts'
import { makePlaces } from '../sockets/connection-slots.ts'

const LARGEST_BODY = 512 * 1024
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
const text = z.string().max(1000)
/** The credentials of users are not for plugins. */
const HIDDEN = new Set(['authorization', 'cookie', 'x-peertube-otp', 'x-peertube-video-password'])

const MOST_SOCKETS = { most: 5000, mostOfOne: 50 }

export function pluginRouterArea(deps: { pluginCalls: PluginCalls; pluginSockets: PluginSockets; urls: { origin: string } }): Area {
  const { pluginCalls, pluginSockets, urls } = deps
  const cookie = makeLoginCookie(urls)
  const { protocol, hostname } = new URL(urls.origin)

  /** The path below the route is passed as it was sent: the router decodes its parameters, and `%2F` is no `/`. */
  function toPluginRequest(request: FastifyRequest, route: string): PluginRequest {
    const [whole = '', ...query] = request.url.split('?')
    const names = whole.split('/')
    const own = route.replace('/*', '').split('/').length
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
    if (body.length > LARGEST_BODY) throw new DomainError('too_large', 'A plugin takes at most 512 KiB.')
    const user = request.session?.user
    return {
      method: request.method,
      base: names.slice(0, own).join('/'),
      path: `/${names.slice(own).join('/')}`,
      query: query.join('?'),
      ip: request.ip,
      protocol: protocol.slice(0, -1),
      hostname,
      headers: Object.fromEntries(
        Object.entries(request.headers).flatMap(([name, value]) =>
          HIDDEN.has(name) || value === undefined ? [] : [[name, String(value)]],
        ),
      ),
      body,
      user: user ? { id: user.id, username: user.username, role: user.role } : null,
    }
  }

  async function send(reply: FastifyReply, answer: PluginAnswer | undefined): Promise<FastifyReply> {
    if (!answer) throw new HttpError(502, 'The plugin does not answer.')
    // The built-in login page accepts a login only from the browser that it belongs to.
    const token = new URLSearchParams(answer.headers.location?.split('?')[1]).get('externalAuthToken')
    if (token) cookie.write(reply, token)
    return reply
      .code(answer.status)
      .headers({ 'cache-control': 'no-store', ...answer.headers })
      .send(answer.body)
  }

  return (app) => {
    for (const path of ['/plugins/:name/router/*', '/plugins/:name/:version/router/*']) {
      app.route({
        method: [...METHODS],
        url: path,
        config: { auth: 'optional', body: 'raw', limits: ['plugins'] },
        schema: { hide: true, params: z.object({ name: text, version: text.optional(), '*': text }) },
        handler: async (request, reply) => {
          const { name, version } = request.params
          const asked = toPluginRequest(request, path)
          return await send(reply, await pluginCalls.route({ npmName: `peertube-plugin-${name}`, version }, asked))
        },
      })
    }

    const places = makePlaces<string>(MOST_SOCKETS)
    const webSockets = new WebSocketServer({ noServer: true, maxPayload: LARGEST_MESSAGE })
    for (const path of ['/plugins/:name/ws/*', '/plugins/:name/:version/ws/*']) {
      app.get(
        path,
        {
          config: { auth: 'optional', limits: ['plugins'] },
          schema: { hide: true, params: z.object({ name: text, version: text.optional(), '*': text }) },
        },
        async (request, reply) => {
          const { name, version, '*': rest } = request.params
          const connect = await pluginSockets.find({ npmName: `peertube-plugin-${name}`, version, route: `/${rest}` })
          const address = countedAddress(request)
          if (!places.hasPlace(address)) throw new DomainError('busy', 'There are too many connections.')
          const asked = toPluginRequest(request, path)
          const upgrade = takeUpgrade(request, reply)
          if (!upgrade) throw new DomainError('invalid', 'This is an address for WebSockets.')
          const leave = places.take(address)
          upgrade.socket.once('close', leave)
          webSockets.handleUpgrade(request.raw, upgrade.socket, upgrade.head, (socket) => connect(socket, asked))
          return reply
        },
      )
    }
    app.addHook('preClose', async () => pluginSockets.close())

    const path = '/plugins/:name/:version/auth/:authName'
    app.get(
      path,
      { config: { limits: ['client', 'login'] }, schema: { hide: true, params: z.object({ name: text, version: text, authName: text }) } },
      async (request, reply) => {
        const { name, version, authName } = request.params
        const asked = toPluginRequest(request, path)
        return await send(reply, await pluginCalls.begin({ npmName: `peertube-plugin-${name}`, version, authName }, asked))
      },
    )
  }
}
