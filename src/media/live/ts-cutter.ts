// Cuts an MPEG transport stream (ISO/IEC 13818-1) that ffmpeg writes into pieces that begin with a key frame and the stream's tables.

const PACKET = 188
const SYNC = 0x47
/** Programme tables that ffmpeg writes: PAT, SDT and PMT. */
const PAT = 0
const SDT = 0x11
const PMT = 0x1000
/** ffmpeg's first stream: the picture, or the sound if there is none. */
const LEAD = 0x100

const TICKS = 90_000
const WRAP = 2 ** 33
/** Seconds that a piece may be shorter than asked: FLV rounds times to ms. */
const TOLERANCE = 0.1
/** Seconds of the last frame of all if it is the only one. */
const ONE_FRAME = 0.04

export type TsPart =
  | { kind: 'bytes'; bytes: Buffer }
  /** The piece before is complete; `seconds` is its exact length. */
  | { kind: 'cut'; seconds: number }

/** `seconds`: the least length of a piece. */
export function makeTsCutter(seconds: number) {
  let rest: Buffer = Buffer.alloc(0)
  let pat: Buffer | undefined
  let pmt: Buffer | undefined
  /** In ticks since the first frame. */
  let begin = 0
  let newest = 0
  let secondNewest: number | undefined
  let last: { raw: number; time: number } | undefined

  return {
    push(more: Buffer): TsPart[] {
      const bytes = rest.length === 0 ? more : Buffer.concat([rest, more])
      const parts: TsPart[] = []
      let from = 0
      /** Tables belong to the frame that follows them. */
      let held: number | undefined
      let at = 0
      for (; at + PACKET <= bytes.length; at += PACKET) {
        const packet = bytes.subarray(at, at + PACKET)
        if (packet[0] !== SYNC) throw new Error('ffmpeg wrote no transport stream.')
        const id = packet.readUInt16BE(1) & 0x1fff
        if (id === PAT || id === PMT || id === SDT) {
          if (id === PAT) pat = Buffer.from(packet)
          if (id === PMT) pmt = Buffer.from(packet)
          held ??= at
          continue
        }
        const frame = id === LEAD ? frameOf(packet) : undefined
        if (frame) {
          const time = unwrapped(frame.time)
          if (frame.isKey && (time - begin) / TICKS >= seconds - TOLERANCE) {
            const edge = held ?? at
            parts.push({ kind: 'bytes', bytes: bytes.subarray(from, edge) }, { kind: 'cut', seconds: (time - begin) / TICKS })
            if (held === undefined && pat && pmt) parts.push({ kind: 'bytes', bytes: Buffer.concat([pat, pmt]) })
            from = edge
            begin = time
          }
          note(time)
        }
        held = undefined
      }
      const end = held ?? at
      parts.push({ kind: 'bytes', bytes: bytes.subarray(from, end) })
      rest = Buffer.from(bytes.subarray(end))
      return parts
    },
    /** The length in seconds of the piece in hand. */
    seconds() {
      return (newest + (secondNewest === undefined ? ONE_FRAME * TICKS : newest - secondNewest) - begin) / TICKS
    },
  }

  function note(time: number): void {
    if (time > newest) [secondNewest, newest] = [newest, time]
    else if (time < newest && time > (secondNewest ?? -1)) secondNewest = time
  }

  /** Ticks since the first frame. */
  function unwrapped(raw: number): number {
    const step = last === undefined ? 0 : (raw - last.raw + WRAP) % WRAP
    const time = (last?.time ?? 0) + (step < WRAP / 2 ? step : step - WRAP)
    last = { raw, time }
    return time
  }
}

/** The presentation time (ticks) of a frame that begins in this packet. */
function frameOf(packet: Buffer): { time: number; isKey: boolean } | undefined {
  const begins = ((packet[1] ?? 0) & 0x40) !== 0
  const hasAdaptation = ((packet[3] ?? 0) & 0x20) !== 0
  const adaptation = hasAdaptation ? (packet[4] ?? 0) : -1
  const at = 5 + adaptation
  if (!begins || at + 14 > PACKET || ((packet[at + 7] ?? 0) & 0x80) === 0) return undefined
  const time =
    ((packet.readUInt8(at + 9) >> 1) & 7) * 2 ** 30 + (packet.readUInt16BE(at + 10) >> 1) * 2 ** 15 + (packet.readUInt16BE(at + 12) >> 1)
  return { time, isKey: adaptation > 0 && ((packet[5] ?? 0) & 0x40) !== 0 }
}
