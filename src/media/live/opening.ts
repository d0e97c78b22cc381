// The beginning of a live FLV stream: holds the first messages until it is known which streams there are, so that the header says so and the
// decoder configurations come first.

import type { AmfObject, AmfValue } from './amf0.ts'
import { audioHead, videoHead } from './codecs.ts'
import { type FlvTag, flvHeader, flvTag, metadataTag } from './flv.ts'

/** ms of the stream that are held for a second stream. */
const MOST_MS = 1_000
const MOST_BYTES = 4 * 2 ** 20
/** A second has about a hundred. */
const MOST_TAGS = 1_000

/** What ffmpeg uses. Other members, such as an index of key frames, are for files. */
const NUMBERS = ['width', 'height', 'framerate', 'videodatarate', 'audiodatarate', 'audiosamplerate', 'audiosamplesize'] as const

export function makeOpening() {
  let announced: AmfObject | undefined
  let held: FlvTag[] | undefined = []
  let bytes = 0
  let [hasVideo, hasAudio] = [false, false]

  return {
    metadata(values: AmfValue[]) {
      const given = values[0]
      if (typeof given === 'object' && given !== null && !Array.isArray(given)) announced = given
    },
    /** Bytes to write; none while the beginning is held. */
    take(tag: FlvTag): Buffer[] {
      if (!held) return [flvTag(tag)]
      held.push(tag)
      bytes += tag.body.length
      hasVideo ||= tag.type === 'video'
      hasAudio ||= tag.type === 'audio'
      return isKnown(held.length, tag) ? open(held) : []
    },
    /** What is still held at the end of the stream. */
    end(): Buffer[] {
      return held && held.length > 0 ? open(held) : []
    },
  }

  function isKnown(count: number, { timestamp }: FlvTag): boolean {
    if (timestamp >= MOST_MS || bytes > MOST_BYTES || count >= MOST_TAGS) return true
    if (hasVideo && hasAudio) return true
    if (!announced) return false
    const [expectsVideo, expectsAudio] = ['videocodecid', 'audiocodecid'].map((name) => announced !== undefined && name in announced)
    return (expectsVideo || expectsAudio) === true && expectsVideo === hasVideo && expectsAudio === hasAudio
  }

  function open(tags: FlvTag[]): Buffer[] {
    held = undefined
    const header = flvHeader({ hasAudio, hasVideo })
    const ordered = [...tags.filter(isConfiguration), ...tags.filter((tag) => !isConfiguration(tag))]
    return [header, ...[metadataTag(cleaned(announced ?? {})), ...ordered].map(flvTag)]
  }
}

const isConfiguration = ({ type, body }: FlvTag): boolean =>
  type === 'video' ? videoHead(body).configurationAt !== undefined : type === 'audio' && audioHead(body).isSequenceHeader

function cleaned(given: AmfObject): AmfObject {
  const numbers = NUMBERS.map((name) => [name, given[name]] as const)
  return Object.fromEntries(numbers.filter(([, value]) => typeof value === 'number' && Number.isFinite(value)))
}
