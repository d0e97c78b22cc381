// Parses a torrent file or magnet URI, and filters what the client gets.

import parseTorrent, { type Instance } from 'parse-torrent'

export interface TorrentSummary {
  /** Name of the torrent, if it has one. */
  name: string | null
  /** Number of files; null for a magnet URI, which does not contain it. */
  files: number | null
  /** Bytes; null for a magnet URI. */
  size: number | null
}

/** Undefined unless it is a torrent file or a magnet URI of one. */
export async function readTorrent(source: string | Uint8Array): Promise<TorrentSummary | undefined> {
  const parsed = await parsedTorrent(source)
  if (!parsed) return undefined
  const { name, dn, files, length } = parsed
  const called = [name, dn].flat().find((text) => typeof text === 'string' && text !== '')
  return { name: called ?? null, files: files?.length ?? null, size: length ?? null }
}

/** SHA-1 in hexadecimal (BEP 3), also for magnet URIs in Base32 (BEP 9). */
const INFO_HASH = /^[0-9a-f]{40}$/i

export async function parsedTorrent(source: string | Uint8Array): Promise<Instance | undefined> {
  try {
    const parsed = await parseTorrent(source)
    return INFO_HASH.test(parsed.infoHash ?? '') ? parsed : undefined
  } catch {
    return undefined
  }
}

/** The torrent without its sources: the client gets no other fields. */
export function descriptionOf({ infoHash, ...rest }: Instance): { infoHash: string; [name: string]: unknown } {
  const { name, info, infoBuffer, files, length, pieceLength, lastPieceLength, pieces } = rest
  const described = { name, info, infoBuffer, files, length, pieceLength, lastPieceLength, pieces }
  return { infoHash, ...(info ? described : {}), private: rest.private === true }
}

const MAX_TRACKERS = 20
const MAX_SEEDS = 10

/** The sources of a torrent. */
export function sourcesOf({ announce, urlList, peerAddresses }: Instance & { peerAddresses?: unknown }): {
  trackers: string[]
  seeds: string[]
  peers: string[]
} {
  const texts = (list: unknown) => (Array.isArray(list) ? list.filter((one) => typeof one === 'string') : [])
  return {
    trackers: texts(announce).slice(0, MAX_TRACKERS),
    seeds: texts(urlList).slice(0, MAX_SEEDS),
    peers: texts(peerAddresses),
  }
}
