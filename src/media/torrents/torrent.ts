// Torrent files of single videos and their magnet URIs. The same file, name and addresses give the same bytes.

import { createHash, hash } from 'node:crypto'
import { addAbortSignal, type Readable } from 'node:stream'
import { MediaError } from '../errors.ts'

/** What of a torrent follows the video: all but the pieces. */
export interface TorrentFacts {
  /** Of the file, as clients write it to their disks. */
  name: string
  /** Bytes. */
  size: number
  /** When the file was made; part of the torrent, so that it is the same whenever it is made. */
  createdAt: Date
  trackers: Trackers
  /** Where clients read the file over HTTP; null for one that not everybody may read. */
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

/** Bytes: from 16 KiB to 4 MiB, about a thousand pieces of a file (BEP 3 leaves it open). */
function pieceLengthOf(size: number): number {
  const exponent = Math.round(Math.log2(Math.max(1, size / 1024)))
  return 2 ** Math.min(22, Math.max(14, exponent))
}

/** Reads the file and makes its torrent. Throws MediaError `not-found` when the stream has another length than `size`. */
export async function makeTorrent(
  stream: Readable,
  facts: TorrentFacts,
  options: { signal?: AbortSignal; onProgress?: (percent: number) => void } = {},
): Promise<Torrent> {
  const { default: createTorrent } = await import('create-torrent')
  const { size } = facts
  const { signal, onProgress } = options
  if (signal) addAbortSignal(signal, stream)
  const made = await new Promise<Uint8Array>((resolve, reject) => {
    createTorrent(
      stream,
      {
        name: 'file',
        pieceLength: pieceLengthOf(size),
        // Without one it would name trackers of strangers.
        announceList: [],
        onProgress: (done) => onProgress?.((100 * done) / Math.max(1, size)),
      },
      (error, bytes) => (error ? reject(error) : resolve(bytes)),
    )
  })
  const info = await infoOf(made)
  if (info?.length !== size) throw new MediaError('not-found', 'The file is not the one that the torrent is for.')
  return await encoded(info, facts)
}

/** The torrent with other facts and the same pieces; undefined when `bytes` are no torrent of such a file. */
export async function renewTorrent(bytes: Uint8Array, facts: TorrentFacts): Promise<Torrent | undefined> {
  const info = await infoOf(bytes)
  return info?.length === facts.size ? await encoded(info, facts) : undefined
}

/** As the reference orders it, so that clients which read it by position do. */
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
 * The swarms in which players exchange the segments of an HLS playlist, in hexadecimal: those of p2p-media-loader's
 * protocol 2, one for each rendition by its place in the master.
 */
export const swarmsOfPlaylist = (masterUrl: string, renditions: number): string[] =>
  Array.from({ length: renditions }, (_, place) => hash('sha1', `${PEER_PROTOCOL}${masterUrl}+V${place}`))

const PEER_PROTOCOL = 2

/** Clients make paths of it. */
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
