// The one torrent client of a process, there while somebody needs it. It connects to nobody who is not allowed.

import { createSocket } from 'node:dgram'
import { isIP } from 'node:net'
import type WebTorrent from 'webtorrent'
import type { GuardedFetch } from '../../../platform/fetch/index.ts'
import { type Gate, openGate } from './gate.ts'

export interface TorrentClient {
  client: WebTorrent
  gate: Gate
}

export interface SharedClient {
  /** Runs `work` with the client, which ends with the last work. */
  use<T>(work: (client: TorrentClient) => Promise<T>): Promise<T>
  close(): Promise<void>
}

interface Options {
  http: Pick<GuardedFetch, 'stream'>
  isAllowed: (address: string) => boolean
  /** Whether the distributed hash table is asked for peers. */
  dht: () => boolean
  onWarning: (error: unknown) => void
}

export function makeSharedClient(options: Options): SharedClient {
  let open: Promise<TorrentClient> | undefined
  let users = 0

  async function end(): Promise<void> {
    const ending = open
    open = undefined
    if (!ending) return
    const { client, gate } = await ending
    await new Promise<void>((resolve) => client.destroy(() => resolve()))
    await gate.close()
  }

  return {
    async use(work) {
      users += 1
      open ??= start(options)
      try {
        return await work(await open)
      } catch (error) {
        // One that could not be started is not kept.
        await open?.catch(() => {
          open = undefined
        })
        throw error
      } finally {
        users -= 1
        if (users === 0) await end()
      }
    },
    close: end,
  }
}

async function start({ http, isAllowed, dht, onWarning }: Options): Promise<TorrentClient> {
  // Loaded when it is needed: it is large, and few servers import torrents.
  const { default: Client } = await import('webtorrent')
  const gate = await openGate({ http })
  const client = new Client({
    dht: dht() ? { socket: guardedSocket(isAllowed) } : false,
    ...{ lsd: false, utp: false, natUpnp: false, natPmp: false },
    tracker: { wrtc: false },
  })
  client.blocked = { contains: (host) => !isAllowed(host) }
  // Without a listener, trouble of one torrent would end the process.
  client.on('error', onWarning)
  return { client, gate }
}

/** A socket that sends nothing to addresses that are not allowed: nodes of the table name each other. */
function guardedSocket(isAllowed: (address: string) => boolean) {
  const socket = createSocket('udp4')
  const send = socket.send.bind(socket)
  return Object.assign(socket, {
    send(
      bytes: Buffer,
      offset: number,
      length: number,
      port: number,
      host: string,
      done?: (error: Error | null) => void,
    ) {
      if (isIP(host) && isAllowed(host)) send(bytes, offset, length, port, host, done)
      else done?.(new Error('This address is not allowed.'))
    },
  })
}
