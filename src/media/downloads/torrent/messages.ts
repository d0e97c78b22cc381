// What the process of a torrent is given, and what it tells.

import { z } from 'zod'
import type { TorrentFault } from './usable.ts'

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

const faults = ['files', 'too-large', 'pieces', 'wrong-bytes'] as const satisfies readonly TorrentFault[]

/** Read with a schema: whoever talks to the client may have got into its process. */
export const newsSchema = z.discriminatedUnion('type', [
  /** Something came; 0 to 100. */
  z.object({ type: z.literal('progress'), percent: z.number().min(0).max(100) }),
  /** `name` is that of the file, `title` that of the torrent. */
  z.object({ type: z.literal('done'), name: z.string(), title: z.string() }),
  z.object({ type: z.literal('failed'), reason: z.enum([...faults, 'disk-full', 'other']), message: z.string() }),
])

export type TorrentNews = z.infer<typeof newsSchema>
