// WebSockets as plugins get them, with the usual interface of the package `ws`: the server has the connections.

import { EventEmitter } from 'node:events'
import { type PluginRequest, type Request, toRequest } from './router.ts'

export type SocketHandler = (socket: PluginSocket, request: Request) => unknown

/** Sends to a socket of the server; without `data` it is closed. */
type Send = (message: { id: string; data?: string; isBinary?: boolean; code?: number; reason?: string }) => Promise<unknown>

const OPEN = 1
const CLOSED = 3
const NO_STATUS = 1005

/** Emits `message` (Buffer, isBinary), `close` (code, reason) and `error`. */
class PluginSocket extends EventEmitter {
  readonly OPEN = OPEN
  readonly CLOSED = CLOSED
  readyState = OPEN
  readonly #id: string
  readonly #send: Send

  constructor(id: string, send: Send) {
    super()
    this.#id = id
    this.#send = send
  }

  send(data: string | Uint8Array, ...more: unknown[]): void {
    const done = more.find((one): one is (error?: Error) => void => typeof one === 'function')
    const message = typeof data === 'string' ? { data } : { data: Buffer.from(data).toString('base64'), isBinary: true }
    this.#send({ id: this.#id, ...message }).then(
      () => done?.(),
      (error: Error) => done?.(error),
    )
  }

  close(code = 1000, reason = ''): void {
    if (this.readyState === OPEN) this.#send({ id: this.#id, code, reason }).catch(() => undefined)
  }

  terminate(): void {
    this.close()
  }

  /** The server does it. */
  ping(): void {}

  closed(code: number, reason: string): void {
    this.readyState = CLOSED
    this.emit('close', code, Buffer.from(reason))
  }
}

export function makeSockets(send: Send) {
  const handlers = new Map<string, SocketHandler>()
  const sockets = new Map<string, PluginSocket>()

  async function answer(name: string, args: unknown): Promise<unknown> {
    const { id = '', ...asked } = Object(args) as Record<string, unknown> & { id?: string }
    const socket = sockets.get(id)
    switch (name) {
      case 'socketOpen': {
        const handler = handlers.get(String(asked.route))
        if (!handler) throw new Error('The plugin has no such WebSocket route.')
        const opened = new PluginSocket(id, send)
        sockets.set(id, opened)
        await handler(opened, toRequest(asked.request as PluginRequest))
        return null
      }
      case 'socketMessage': {
        const { data, isBinary } = asked
        socket?.emit('message', Buffer.from(String(data), isBinary === true ? 'base64' : 'utf8'), isBinary === true)
        return null
      }
      case 'socketClosed':
        sockets.delete(id)
        socket?.closed(Number(asked.code ?? NO_STATUS), String(asked.reason ?? ''))
        return null
      case 'sockets':
        return [...sockets.keys()]
      default:
        throw new Error(`The plugin does not know ${name}.`)
    }
  }

  return {
    add: (route: string, handler: SocketHandler): void => void handlers.set(`/${route.replace(/^\/+/, '')}`, handler),
    routes: (): string[] => [...handlers.keys()],
    answer,
  }
}
