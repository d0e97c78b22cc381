// Which torrents are accepted: those with exactly one file, not too large, and with consistent pieces.

export interface TorrentShape {
  files: readonly { length: number }[]
  /** Bytes of each but the last. */
  pieceLength: number
  /** One per hash. */
  pieces: readonly unknown[]
}

export type TorrentFault = 'files' | 'too-large' | 'pieces' | 'wrong-bytes'

/** Bytes. A piece is in memory until it is complete, and several are in progress at once. */
const LARGEST_PIECE = 64 * 1024 * 1024

/** Share of the file, and number of pieces, that may be received without a valid hash. */
const WASTE = { part: 0.5, pieces: 8 }

/** True if peers keep sending invalid data, which costs a web seed as much as this server. */
export function isWasted({ received, length, pieceLength }: { received: number; length: number; pieceLength: number }) {
  return received > length * (1 + WASTE.part) + pieceLength * WASTE.pieces
}

/** Why a torrent is refused; undefined if it is valid. The client would store each piece that has a hash. */
export function faultOf({ files, pieceLength, pieces }: TorrentShape, maxBytes: number): TorrentFault | undefined {
  const [file] = files
  if (!file || files.length > 1) return 'files'
  if (file.length > maxBytes) return 'too-large'
  const areNumbers = [file.length, pieceLength].every((number) => Number.isSafeInteger(number) && number > 0)
  if (!areNumbers || pieceLength > LARGEST_PIECE) return 'pieces'
  return pieces.length === Math.ceil(file.length / pieceLength) ? undefined : 'pieces'
}
