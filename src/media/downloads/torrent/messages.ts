// Messages to and from the process of a torrent.

import { z } from 'zod'
import type { TorrentFault } from './usable.ts'

/** All that the client gets to know of a torrent. Its source addresses were checked before. */
export interface TorrentTask {
  torrent: {
    infoHash: string
    announce: string[]
    urlList: string[]
    peerAddresses: string[]
    /** From a torrent file. */
    [description: string]: unknown
  }
  /** Path of the downloaded file. */
  path: string
  maxBytes: number
  /** True to use the distributed hash table. */
  dht: boolean
  /** Allows loopback and private addresses, too. */
  allowPrivateAddresses: boolean
}

const faults = ['files', 'too-large', 'pieces', 'wrong-bytes'] as const satisfies readonly TorrentFault[]

/** Validated with a schema: an attacker may control the client's process. */
export const newsSchema = z.discriminatedUnion('type', [
  /** Progress, 0 to 100. */
  z.object({ type: z.literal('progress'), percent: z.number().min(0).max(100) }),
  /** `name` is that of the file, `title` that of the torrent. */
  z.object({ type: z.literal('done'), name: z.string(), title: z.string() }),
  z.object({ type: z.literal('failed'), reason: z.enum([...faults, 'disk-full', 'other']), message: z.string() }),
])

export type TorrentNews = z.infer<typeof newsSchema>
