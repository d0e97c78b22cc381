// Torrent files of single videos and their magnet URIs. The same file, name and addresses give the same bytes.

import { createHash, hash } from 'node:crypto'
import { addAbortSignal, type Readable } from 'node:stream'
import { MediaError } from '../errors.ts'

/** The parts of a torrent that depend on the video: all but the pieces. */
export interface TorrentFacts {
  /** Name of the downloaded file. */
  name: string
  /** Bytes. */
  size: number
  /** When the file was made; part of the torrent, so that repeated builds are identical. */
  createdAt: Date
  trackers: Trackers
  /** HTTP address of the file; null for a private one. */
  webSeed: string | null
}

export interface Trackers {
  http: string
  webSocket: string
}

export interface Torrent {
  bytes: Uint8Array
  /** SHA-1 of the torrent's `info`, in hexadecimal. */
  infoHash: string
}

const CREATED_BY = 'Vireo'

/** Bytes: from 16 KiB to 4 MiB, about a thousand pieces per file (BEP 3 leaves it open). */
function pieceLengthOf(size: number): number {
  const exponent = Math.round(Math.log2(Math.max(1, size / 1024)))
  return 2 ** Math.min(22, Math.max(14, exponent))
}

/** Reads the file and makes its torrent. Throws MediaError `not-found` if the stream has another length than `size`. */
export async function makeTorrent(
  stream: Readable,
  facts: TorrentFacts,
  options: { signal?: AbortSignal; onProgress?: (percent: number) => void } = {},
): Promise<Torrent> {
  const { size } = facts
  const { signal, onProgress } = options
  if (signal) addAbortSignal(signal, stream)
  const pieceLength = pieceLengthOf(size)
  const hasher = makePieceHasher(pieceLength)
  let length = 0
  for await (const chunk of stream as AsyncIterable<Uint8Array>) {
    length += chunk.length
    if (length > size) break
    hasher.add(chunk)
    onProgress?.((100 * length) / Math.max(1, size))
  }
  if (length !== size) throw new MediaError('not-found', 'The file is not the one that the torrent is for.')
  return await encoded({ length, pieceLength, pieces: hasher.end() }, facts)
}

/** The SHA-1 of each piece (BEP 3). Bytes are hashed as they arrive: copying each piece would cost more than its hash. */
function makePieceHasher(pieceLength: number): { add(chunk: Uint8Array): void; end(): Uint8Array } {
  const hashes: Buffer[] = []
  let piece = createHash('sha1')
  let filled = 0
  const endPiece = (): void => {
    hashes.push(piece.digest())
    piece = createHash('sha1')
    filled = 0
  }
  return {
    add(chunk) {
      for (let at = 0; at < chunk.length; ) {
        const part = chunk.subarray(at, at + pieceLength - filled)
        piece.update(part)
        at += part.length
        filled += part.length
        if (filled === pieceLength) endPiece()
      }
    },
    end() {
      if (filled > 0) endPiece()
      return Buffer.concat(hashes)
    },
  }
}

/** The torrent with other facts and the same pieces; undefined if `bytes` are not a torrent of such a file. */
export async function renewTorrent(bytes: Uint8Array, facts: TorrentFacts): Promise<Torrent | undefined> {
  const info = await infoOf(bytes)
  return info?.length === facts.size ? await encoded(info, facts) : undefined
}

/** In the order of the reference, for clients that parse it by position. */
export function magnetOf(
  { infoHash, torrentUrl }: { infoHash: string; torrentUrl: string },
  { displayName, trackers, webSeed }: { displayName: string } & Pick<TorrentFacts, 'trackers' | 'webSeed'>,
): string {
  const parts = [
    `xs=${encodeURIComponent(torrentUrl)}`,
    `xt=urn:btih:${infoHash}`,
    `dn=${encodeURIComponent(displayName.toWellFormed()).replaceAll('%20', '+')}`,
    `tr=${encodeURIComponent(trackers.http)}`,
    `tr=${encodeURIComponent(trackers.webSocket)}`,
    ...(webSeed === null ? [] : [`ws=${encodeURIComponent(webSeed)}`]),
  ]
  return `magnet:?${parts.join('&')}`
}

/**
 * The swarms in which players exchange the segments of an HLS playlist, in hexadecimal: those of p2p-media-loader's protocol 2, one per
 * rendition by its position in the master.
 */
export const swarmsOfPlaylist = (masterUrl: string, renditions: number): string[] =>
  Array.from({ length: renditions }, (_, place) => hash('sha1', `${PEER_PROTOCOL}${masterUrl}+V${place}`))

const PEER_PROTOCOL = 2

/** Clients use it in paths. */
const nameOf = ({ name }: TorrentFacts): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what file systems refuse.
  name.toWellFormed().replace(/[\u0000-\u001f\u007f/\\]/g, '_')

const announceList = ({ http, webSocket }: Trackers): string[][] => [[webSocket], [http]]
const seedsOf = ({ webSeed }: TorrentFacts): string[] => (webSeed === null ? [] : [webSeed])

interface Info {
  length: number
  pieceLength: number
  pieces: Uint8Array
}

async function infoOf(bytes: Uint8Array): Promise<Info | undefined> {
  const { default: bencode } = await import('bencode')
  try {
    const { info } = bencode.decode(bytes)
    const { length, 'piece length': pieceLength, pieces } = info
    const isWhole = pieces instanceof Uint8Array && pieces.length === 20 * Math.ceil(length / pieceLength)
    return isWhole ? { length, pieceLength, pieces } : undefined
  } catch {
    return undefined
  }
}

async function encoded({ length, pieceLength, pieces }: Info, facts: TorrentFacts): Promise<Torrent> {
  const { default: bencode } = await import('bencode')
  const info = { length, name: nameOf(facts), 'piece length': pieceLength, pieces }
  const bytes = bencode.encode({
    announce: facts.trackers.webSocket,
    'announce-list': announceList(facts.trackers),
    'created by': CREATED_BY,
    'creation date': Math.ceil(facts.createdAt.getTime() / 1000),
    encoding: 'UTF-8',
    info,
    'url-list': seedsOf(facts),
  })
  return { bytes, infoHash: createHash('sha1').update(bencode.encode(info)).digest('hex') }
}
