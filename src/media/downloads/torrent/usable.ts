// Which torrents are taken: those of exactly one file that is not too large, and that say nothing else of its pieces.

export interface TorrentShape {
  files: readonly { length: number }[]
  /** Bytes of each but the last. */
  pieceLength: number
  /** One for each hash. */
  pieces: readonly unknown[]
}

export type TorrentFault = 'files' | 'too-large' | 'pieces' | 'wrong-bytes'

/** Bytes. A piece is in memory until it is whole, and several are on their way at once. */
const LARGEST_PIECE = 64 * 1024 * 1024

/** Parts of the file that may come without fitting its pieces, and a few pieces of which several sent some of their bytes. */
const WASTE = { part: 0.5, pieces: 8 }

/** Whether somebody sends what is none of the file again and again, which costs a web seed as much as it costs us. */
export function isWasted({ received, length, pieceLength }: { received: number; length: number; pieceLength: number }) {
  return received > length * (1 + WASTE.part) + pieceLength * WASTE.pieces
}

/** What is wrong with a torrent; undefined when nothing is. The client would store each piece that there is a hash for. */
export function faultOf({ files, pieceLength, pieces }: TorrentShape, maxBytes: number): TorrentFault | undefined {
  const [file] = files
  if (!file || files.length > 1) return 'files'
  if (file.length > maxBytes) return 'too-large'
  const areNumbers = [file.length, pieceLength].every((number) => Number.isSafeInteger(number) && number > 0)
  if (!areNumbers || pieceLength > LARGEST_PIECE) return 'pieces'
  return pieces.length === Math.ceil(file.length / pieceLength) ? undefined : 'pieces'
}
