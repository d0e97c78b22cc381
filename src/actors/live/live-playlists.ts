// HLS playlists of a live, made from the rows of its pieces (RFC 8216). Pure.

import { type EncodedRendition, type LivePlan, type LiveRendition, pieceName } from '../../media/index.ts'

export interface LivePieceRow {
  rendition: number
  sequence: number
  generation: number
  /** Number in the playlist. */
  position: number
  /** In the session, up to this piece. */
  discontinuities: number
  seconds: number
  /** Null for one that is left out. */
  bytes: number | null
  sha256: string | null
  /** ISO 8601. */
  startsAt: string
}

/** A rendition that viewers get. */
type ShownRendition = LiveRendition & Partial<Pick<EncodedRendition, 'bandwidth'>>

const AS_RECEIVED: ShownRendition = { rendition: 0, width: 0, height: 0, codecs: [] }

/** In the order of the master playlist. Without a plan there is only the stream as it was received. */
export const shownRenditions = (plan: LivePlan | null): ShownRendition[] =>
  plan ? [...(plan.isSourceShown ? [plan.source] : []), ...plan.encoded] : [AS_RECEIVED]

/** `pieces`: some of the stream as it was received. */
export function masterPlaylist({ plan, pieces }: { plan: LivePlan | null; pieces: readonly LivePieceRow[] }): string {
  const received = Math.max(0, ...pieces.map(({ bytes, seconds }) => ((bytes ?? 0) * 8) / Math.max(seconds, SHORTEST_SECONDS)))
  const shown = shownRenditions(plan)
  const sound = shown.find(({ rendition }) => rendition === plan?.sound)
  const group = sound
    ? `#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="audio",NAME="Audio",AUTOSELECT=YES,DEFAULT=YES,URI="${sound.rendition}.m3u8"\n\n`
    : ''
  const variants = shown.filter((rendition) => rendition !== sound)
  const entries = variants.map(({ rendition, width, height, codecs: own, bandwidth = Math.ceil(received) }) => {
    const codecs = [...new Set([...own, ...(sound?.codecs ?? [])])]
    const attributes = [
      `BANDWIDTH=${bandwidth}`,
      ...(width > 0 ? [`RESOLUTION=${width}x${height}`] : []),
      ...(codecs.length > 0 ? [`CODECS="${codecs.join(',')}"`] : []),
      ...(sound ? ['AUDIO="audio"'] : []),
    ]
    return `#EXT-X-STREAM-INF:${attributes.join(',')}\n${rendition}.m3u8\n\n`
  })
  return `#EXTM3U\n#EXT-X-VERSION:6\n${group}${entries.join('')}`
}

/** The last piece may hold a single frame. */
const SHORTEST_SECONDS = 0.5

/** Consecutive pieces of one rendition. Without `isRunning` the last one ends the stream. */
export function renditionPlaylist(options: {
  pieces: readonly LivePieceRow[]
  isRunning: boolean
  /** Seconds of a piece, unless one is longer. */
  target: number
}): string {
  const { pieces, isRunning, target } = options
  const longest = Math.max(target, ...pieces.map(({ seconds }) => Math.round(seconds)))
  const lines = [
    '#EXTM3U',
    '#EXT-X-VERSION:6',
    `#EXT-X-TARGETDURATION:${longest}`,
    `#EXT-X-MEDIA-SEQUENCE:${pieces[0]?.position ?? 0}`,
    // Clients that lost sight of the playlist count discontinuities from here (RFC 8216, 4.3.3.3).
    ...(pieces[0]?.discontinuities ? [`#EXT-X-DISCONTINUITY-SEQUENCE:${pieces[0].discontinuities}`] : []),
    '#EXT-X-INDEPENDENT-SEGMENTS',
  ]
  for (const [index, { rendition, sequence, generation, seconds, startsAt, bytes }] of pieces.entries()) {
    const before = pieces[index - 1]
    if (before && before.generation !== generation) lines.push('#EXT-X-DISCONTINUITY')
    lines.push(`#EXTINF:${seconds.toFixed(6)},`, `#EXT-X-PROGRAM-DATE-TIME:${new Date(startsAt).toISOString().replace('Z', '+0000')}`)
    // Players take it from another rendition, or go on after it.
    if (bytes === null) lines.push('#EXT-X-GAP')
    lines.push(pieceName(rendition, sequence))
  }
  if (!isRunning) lines.push('#EXT-X-ENDLIST')
  return `${lines.join('\n')}\n`
}

/** The content of `segments-sha256.json`. */
export const hashesOf = (pieces: readonly LivePieceRow[]): Record<string, string> =>
  Object.fromEntries(
    pieces.flatMap(({ rendition, sequence, sha256 }) => (sha256 === null ? [] : [[pieceName(rendition, sequence), sha256]])),
  )
