// Types for the used parts of bittorrent-tracker's server, which has none.

declare module 'bittorrent-tracker/server' {
  import { EventEmitter } from 'node:events'
  import type { IncomingMessage } from 'node:http'
  import type { Duplex } from 'node:stream'

  export interface Peer {
    type: 'http' | 'ws'
    ip: string
    /** Set for a peer on a WebSocket. */
    socket?: PeerSocket
  }

  export interface Swarm {
    complete: number
    incomplete: number
    peers: {
      readonly keys: string[]
      readonly length: number
      /** Removes the peer if it is too old. */
      peek(key: string): Peer | undefined
    }
    announce(params: { type: 'http' | 'ws'; event: 'stopped'; numwant: 0; peer_id: string; addr?: string }): void
  }

  /** The socket interface of the tracker, and the data that it stores on one. */
  export interface PeerSocket extends EventEmitter {
    upgradeReq: { headers: object; connection: { remoteAddress: string; remotePort: number } } | null
    send(text: string): void
    ip?: string
    infoHashes?: string[] | null
    destroyed?: boolean
  }

  export interface AnnounceParams {
    type: 'http' | 'ws'
    ip: string
    /** In hexadecimal. */
    peer_id: string
    /** Address and port. */
    addr?: string
    socket?: PeerSocket
    answer?: unknown
  }

  export type Filter = (infoHash: string, params: AnnounceParams, done: (refusal?: Error) => void) => void

  export interface WebSocket extends EventEmitter {
    readonly bufferedAmount: number
    send(text: string, done: (error?: Error) => void): void
    ping(): void
    close(code: number, reason: string): void
    terminate(): void
  }

  class Server extends EventEmitter {
    static Swarm: new (
      infoHash: string,
      server: Server,
    ) => Swarm
    constructor(options: {
      http: false
      udp: false
      stats: false
      ws: { noServer: true; maxPayload: number }
      peersCacheLength: number
      filter: Filter
    })
    torrents: Record<string, Swarm>
    ws: {
      handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer, done: (socket: WebSocket) => void): void
    }
    createSwarm(infoHash: string, done: (error: null, swarm: Swarm) => void): void
    onHttpRequest(
      request: { url: string; headers: object; connection: { remoteAddress: string } },
      response: { end(body: Uint8Array): void },
      options: { action: 'announce' },
    ): void
    onWebSocketConnection(socket: PeerSocket): void
    close(): void
  }
  export default Server
}
