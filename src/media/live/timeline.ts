// The times of a stream: RTMP counts ms modulo 2^32 from any start; here the first frame is at 0 and nothing wraps.

import { ProtocolError } from './protocol-error.ts'

/** ms that a message may be older than the newest one: sound and picture are interleaved loosely. */
const MOST_BACK = 5_000
/** ms that a message may be ahead of the newest one. */
const MOST_AHEAD = 60_000

export interface Timeline {
  /** The time of a frame. Throws ProtocolError if time runs backwards or jumps. */
  timeOf(timestamp: number): number
  /** The time of the newest frame; 0 before the first. */
  newest(): number
}

export function makeTimeline(): Timeline {
  let last: { raw: number; time: number } | undefined

  return { timeOf, newest: () => last?.time ?? 0 }

  function timeOf(timestamp: number): number {
    if (!last) {
      last = { raw: timestamp, time: 0 }
      return 0
    }
    // The difference as a signed number of 32 bits.
    const step = (timestamp - last.raw) | 0
    if (step < -MOST_BACK || step > MOST_AHEAD) {
      throw new ProtocolError(`A timestamp is ${Math.abs(step)} ms ${step < 0 ? 'before' : 'after'} the newest one.`)
    }
    const time = Math.max(0, last.time + step)
    if (step > 0) last = { raw: timestamp, time: last.time + step }
    return time
  }
}
