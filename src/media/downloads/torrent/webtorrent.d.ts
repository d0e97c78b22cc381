// Types for the used parts of webtorrent, which has none.

declare module 'webtorrent' {
  import type { EventEmitter } from 'node:events'

  export interface TorrentFile {
    name: string
    length: number
    offset: number
    arrayBuffer(): Promise<ArrayBuffer>
  }

  export interface Torrent extends EventEmitter {
    files: TorrentFile[]
    length: number
    pieceLength: number
    pieces: readonly unknown[]
    /** Received bytes, valid or not. */
    received: number
    /** 0 to 1. */
    progress: number
    name: string
    done: boolean
    destroyed: boolean
    destroy(options: { destroyStore: boolean }, done: (error?: Error | string | null) => void): void
  }

  /** `abstract-chunk-store`. */
  export interface ChunkStore {
    chunkLength: number
    put(index: number, chunk: Uint8Array, done: (error?: Error | null) => void): void
    get(index: number, part: { offset?: number; length?: number } | null, done: (error: Error | null, chunk?: Uint8Array) => void): void
    close(done: (error?: Error | null) => void): void
    destroy(done: (error?: Error | null) => void): void
  }

  export interface ClientOptions {
    dht: false | object
    lsd: boolean
    utp: boolean
    natUpnp: boolean
    natPmp: boolean
    tracker: object
    maxConns?: number
    /** True to use the web seeds of a torrent, which is the default. */
    webSeeds?: boolean
  }

  export interface TorrentOptions {
    path: string
    store: new (chunkLength: number) => ChunkStore
    storeCacheSlots: number
  }

  export default class WebTorrent extends EventEmitter {
    constructor(options: ClientOptions)
    /** Checks the address of each peer before a connection. */
    blocked: { contains(host: string): boolean } | undefined
    torrentPort: number
    add(torrent: object, options: Partial<TorrentOptions>, added?: (torrent: Torrent) => void): Torrent
    seed(
      content: Buffer | Buffer[],
      options: { name?: string; announceList?: string[][] },
      ready: (torrent: Torrent & { torrentFile: Uint8Array; infoHash: string }) => void,
    ): Torrent
    destroy(done: (error?: Error | string | null) => void): void
  }
}
