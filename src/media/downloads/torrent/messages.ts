// What a torrent's worker is given, and what it tells. Plain data: it crosses threads.

/** All that the client may know of a torrent. Its sources are addresses that were looked at before. */
export interface TorrentTask {
  torrent: {
    infoHash: string
    announce: string[]
    urlList: string[]
    peerAddresses: string[]
    /** Of a torrent file. */
    [description: string]: unknown
  }
  /** Where the file's bytes go. */
  path: string
  maxBytes: number
  /** Whether the distributed hash table is asked for peers. */
  dht: boolean
  /** Loopback and private addresses too. */
  allowPrivateAddresses: boolean
}

export type TorrentNews =
  /** Something came; 0 to 100. */
  | { type: 'progress'; percent: number }
  | { type: 'done'; name: string }
  | { type: 'failed'; reason: 'files' | 'too-large' | 'disk-full' | 'other'; message: string }
