// What tests use of webtorrent, which has no types.

declare module 'webtorrent' {
  import { EventEmitter } from 'node:events'

  export interface Torrent extends EventEmitter {
    done: boolean
    files: { arrayBuffer(): Promise<ArrayBuffer> }[]
  }

  export default class WebTorrent extends EventEmitter {
    constructor(options: object)
    add(torrent: Uint8Array, options: object, added: (torrent: Torrent) => void): Torrent
    destroy(done: () => void): void
  }
}
