// WebSockets of plugins: this process has the connection, and each message is a call to the process of the plugin, which may run elsewhere.

import type { RawData, WebSocket } from 'ws'
import { z } from 'zod'
import { newUuid } from '../../platform/ids.ts'
import type { Logger } from '../../platform/logger.ts'
import { notFound } from '../runtime/index.ts'
import type { ActivePlugins } from './active-plugins.ts'
import type { PluginHosts } from './host/hosts.ts'
import type { PluginRow } from './plugin.queries.ts'
import type { PluginRequest } from './plugin-calls.ts'

export interface PluginSockets {
  /**
   * Looks for the route of a plugin. Returns the function that passes an accepted connection to it. Throws `not_found`.
   */
  find(find: { npmName: string; version?: string | undefined; route: string }): Promise<(socket: WebSocket, request: PluginRequest) => void>
  close(): void
}

/** Bytes of one message, from and to browsers. */
export const LARGEST_MESSAGE = 512 * 1024
/** Bytes that a browser has not yet read, and messages that its plugin has not yet taken. */
const MAX_WAITING = 4 * 1024 * 1024
const MOST_WAITING = 100
const CALL_MS = 10_000
const LOOK_EVERY_MS = 10_000

const GOING_AWAY = 1001
const POLICY_VIOLATION = 1008
const FAILED = 1011
const RESTARTED = 1012

interface Connection {
  plugin: PluginRow
  socket: WebSocket
  /** The plugin knows it. */
  isOpen: boolean
  hasAnswered: boolean
}

/** What the process of a plugin sends to a socket; without `data` it closes it. */
const sent = z.object({
  id: z.uuid(),
  data: z.string().optional(),
  /** True for `data` in base 64. */
  isBinary: z.boolean().default(false),
  code: z.int().min(1000).max(4999).default(1000),
  reason: z.string().max(100).default(''),
})

export function makePluginSockets(deps: {
  active: Pick<ActivePlugins, 'find'>
  hosts: Pick<PluginHosts, 'call' | 'address' | 'onSocket'>
  logger: Logger
}): PluginSockets {
  const { active, hosts, logger } = deps
  const connections = new Map<string, Connection>()
  let timer: NodeJS.Timeout | undefined

  hosts.onSocket((npmName, args) => {
    const { id, data, isBinary, code, reason } = sent.parse(args)
    const { plugin, socket } = connections.get(id) ?? {}
    if (!socket || plugin?.npm_name !== npmName) throw new Error('The socket is closed.')
    if (data === undefined) socket.close(isClosable(code) ? code : FAILED, reason)
    else if (socket.bufferedAmount > MAX_WAITING) socket.terminate()
    else socket.send(isBinary ? Buffer.from(data, 'base64') : data, () => undefined)
  })

  function connect(plugin: PluginRow, route: string, socket: WebSocket, request: PluginRequest): void {
    const id = newUuid()
    const connection: Connection = { plugin, socket, isOpen: false, hasAnswered: true }
    connections.set(id, connection)
    timer ??= setInterval(look, LOOK_EVERY_MS).unref()
    let waiting = 0
    // In the order of their arrival.
    let last = Promise.resolve()
    const pass = (name: string, args: object): void => {
      waiting += 1
      last = last.then(async () => {
        try {
          await hosts.call(plugin, name, { id, ...args }, CALL_MS)
          connection.isOpen = true
        } catch (error) {
          logger.debug({ err: error, plugin: plugin.npm_name }, 'a plugin did not take a message of a WebSocket')
          socket.close(FAILED, 'the plugin does not answer')
        }
        waiting -= 1
      })
    }
    socket.on('message', (data: RawData, isBinary: boolean) => {
      if (waiting >= MOST_WAITING) return socket.close(POLICY_VIOLATION, 'too many messages')
      pass('socketMessage', { data: Buffer.from(data as Buffer).toString(isBinary ? 'base64' : 'utf8'), isBinary })
    })
    socket.on('pong', () => {
      connection.hasAnswered = true
    })
    // Broken frames, and messages that are too large: the close follows.
    socket.on('error', () => undefined)
    socket.on('close', (code, reason) => {
      connections.delete(id)
      pass('socketClosed', { code, reason: reason.toString() })
    })
    pass('socketOpen', { route, at: hosts.address(), request: { ...request, body: '' } })
  }

  /** Closes those whose browser is gone, and those that a plugin does not know since its process started again. */
  function look(): void {
    for (const { socket, ...connection } of connections.values()) {
      if (!connection.hasAnswered) socket.terminate()
    }
    for (const connection of connections.values()) {
      connection.hasAnswered = false
      connection.socket.ping()
    }
    const plugins = new Map([...connections.values()].map(({ plugin }) => [plugin.id, plugin]))
    for (const plugin of plugins.values()) void lookAt(plugin)
  }

  async function lookAt(plugin: PluginRow): Promise<void> {
    const ids = [...connections].flatMap(([id, one]) => (one.isOpen && one.plugin.id === plugin.id ? [id] : []))
    const known = await hosts.call(plugin, 'sockets', { ids }, CALL_MS).catch(() => [])
    for (const id of ids) {
      if (!Array.isArray(known) || !known.includes(id)) connections.get(id)?.socket.close(RESTARTED, 'the plugin has started again')
    }
  }

  return {
    async find({ route, ...named }) {
      const plugin = await active.find(named)
      if (!plugin?.declared?.webSocketRoutes.includes(route)) throw notFound('There is nothing here.')
      return (socket, request) => connect(plugin, route, socket, request)
    },

    close() {
      clearInterval(timer)
      for (const { socket } of connections.values()) {
        socket.close(GOING_AWAY, 'the server is ending')
        setTimeout(() => socket.terminate(), 500)
      }
    },
  }
}

/** Codes that may be sent (RFC 6455, 7.4). */
const isClosable = (code: number): boolean => (code >= 1000 && code <= 1014 && ![1004, 1005, 1006].includes(code)) || code >= 3000
