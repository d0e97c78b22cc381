// What a torrent file or a magnet URI says, and what of it is let through to the client.

import parseTorrent, { type Instance } from 'parse-torrent'

export interface TorrentSummary {
  /** What the torrent is called, when it says so. */
  name: string | null
  /** Files in it; null for a magnet URI, which does not tell. */
  files: number | null
  /** Bytes; null for a magnet URI. */
  size: number | null
}

/** Undefined when it is neither a torrent file nor a magnet URI of one. */
export async function readTorrent(source: string | Uint8Array): Promise<TorrentSummary | undefined> {
  const parsed = await parsedTorrent(source)
  if (!parsed) return undefined
  const { name, dn, files, length } = parsed
  const called = [name, dn].flat().find((text) => typeof text === 'string' && text !== '')
  return { name: called ?? null, files: files?.length ?? null, size: length ?? null }
}

/** SHA-1 in hexadecimal (BEP 3), also where a magnet URI has it in Base32 (BEP 9). */
const INFO_HASH = /^[0-9a-f]{40}$/i

export async function parsedTorrent(source: string | Uint8Array): Promise<Instance | undefined> {
  try {
    const parsed = await parseTorrent(source)
    return INFO_HASH.test(parsed.infoHash ?? '') ? parsed : undefined
  } catch {
    return undefined
  }
}

/** What describes the torrent, without where to get it: whatever else it says, the client does not hear of it. */
export function descriptionOf({ infoHash, ...rest }: Instance): { infoHash: string; [name: string]: unknown } {
  const { name, info, infoBuffer, files, length, pieceLength, lastPieceLength, pieces } = rest
  const described = { name, info, infoBuffer, files, length, pieceLength, lastPieceLength, pieces }
  return { infoHash, ...(info ? described : {}), private: rest.private === true }
}

const MOST_TRACKERS = 20
const MOST_SEEDS = 10

/** Where a torrent says that it can be got. */
export function sourcesOf({ announce, urlList, peerAddresses }: Instance & { peerAddresses?: unknown }): {
  trackers: string[]
  seeds: string[]
  peers: string[]
} {
  const texts = (list: unknown) => (Array.isArray(list) ? list.filter((one) => typeof one === 'string') : [])
  return {
    trackers: texts(announce).slice(0, MOST_TRACKERS),
    seeds: texts(urlList).slice(0, MOST_SEEDS),
    peers: texts(peerAddresses),
  }
}
