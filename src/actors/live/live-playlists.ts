// HLS playlists of a live, made from the rows of its pieces (RFC 8216). Pure.

import { pieceName } from '../../media/index.ts'

export interface LivePieceRow {
  sequence: number
  generation: number
  seconds: number
  bytes: number
  sha256: string
  startsAt: Date
}

/** Lists one rendition: the stream as it was received. */
export function masterPlaylist(pieces: readonly LivePieceRow[]): string {
  const bandwidth = Math.ceil(Math.max(...pieces.map(({ bytes, seconds }) => (bytes * 8) / Math.max(seconds, SHORTEST_SECONDS))))
  return `#EXTM3U\n#EXT-X-VERSION:6\n#EXT-X-STREAM-INF:BANDWIDTH=${bandwidth}\n0.m3u8\n\n`
}

/** The last piece may hold a single frame. */
const SHORTEST_SECONDS = 0.5

/** Consecutive pieces of one rendition. Without `isRunning` the last one ends the stream. */
export function renditionPlaylist(options: {
  rendition: number
  pieces: readonly LivePieceRow[]
  isRunning: boolean
  /** Seconds of a piece, unless one is longer. */
  target: number
}): string {
  const { rendition, pieces, isRunning, target } = options
  const longest = Math.max(target, ...pieces.map(({ seconds }) => Math.round(seconds)))
  const lines = [
    '#EXTM3U',
    '#EXT-X-VERSION:6',
    `#EXT-X-TARGETDURATION:${longest}`,
    `#EXT-X-MEDIA-SEQUENCE:${pieces[0]?.sequence ?? 0}`,
    // Clients that lost sight of the playlist count discontinuities from here (RFC 8216, 4.3.3.3): one for each reconnection.
    ...(pieces[0] && pieces[0].generation > 1 ? [`#EXT-X-DISCONTINUITY-SEQUENCE:${pieces[0].generation - 1}`] : []),
    '#EXT-X-INDEPENDENT-SEGMENTS',
  ]
  for (const [index, { sequence, generation, seconds, startsAt }] of pieces.entries()) {
    const before = pieces[index - 1]
    if (before && before.generation !== generation) lines.push('#EXT-X-DISCONTINUITY')
    lines.push(`#EXTINF:${seconds.toFixed(6)},`, `#EXT-X-PROGRAM-DATE-TIME:${startsAt.toISOString().replace('Z', '+0000')}`)
    lines.push(pieceName(rendition, sequence))
  }
  if (!isRunning) lines.push('#EXT-X-ENDLIST')
  return `${lines.join('\n')}\n`
}

/** The content of `segments-sha256.json`. */
export const hashesOf = (rendition: number, pieces: readonly LivePieceRow[]): Record<string, string> =>
  Object.fromEntries(pieces.map(({ sequence, sha256 }) => [pieceName(rendition, sequence), sha256]))
