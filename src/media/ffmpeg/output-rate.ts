// The frame rate of a rendition, by the rules of the contract (limits.json, transcoding.fps).

import { MediaError } from '../errors.ts'
import { type Rational, toNumber } from './rate.ts'

const HARD_MIN = 0.1
const MIN = 1
const AVERAGE = 30
const KEEP_INPUT_FROM = 720
const STANDARD = [24, 25, 30]
const HIGH_STANDARD = [50, 60]

export interface OutputRateOptions {
  /** Of the source. */
  rate: Rational
  /** A variable rate becomes the nearest constant whole one. */
  variable: boolean
  /** Short side of the rendition, px. */
  resolution: number
  /** True for the rendition in the source's own resolution, which keeps its rate. */
  isOriginal: boolean
  /** Configuration `transcoding.fps.max`. */
  maxFps: number
}

/**
 * Small renditions of fast sources get the standard rate that divides the source's best; the others keep it, between 1 and the maximum.
 * Throws MediaError `frame-rate` below 0.1 frames per second.
 */
export function outputRate({ rate, variable, resolution, isOriginal, maxFps }: OutputRateOptions): Rational {
  const fps = toNumber(rate)
  if (fps < HARD_MIN) throw new MediaError('frame-rate', 'The picture has fewer than 0.1 frames per second.')
  if (fps < MIN) return { num: MIN, den: 1 }
  const nominal = Math.round(fps)
  const exact = variable ? { num: nominal, den: 1 } : rate
  const isReduced = !isOriginal && resolution < KEEP_INPUT_FROM && nominal > AVERAGE
  const kept = isReduced ? bestDivisor(nominal, STANDARD) : nominal
  const limit = Math.max(MIN, maxFps)
  const high = HIGH_STANDARD.filter((standard) => standard <= limit)
  const capped = kept > limit ? bestDivisor(nominal, high.length > 0 ? high : [limit]) : kept
  if (capped === nominal) return exact
  // An exact divisor keeps NTSC rates exact too: 60000/1001 becomes 30000/1001.
  return nominal % capped === 0 ? { num: exact.num, den: exact.den * (nominal / capped) } : { num: capped, den: 1 }
}

const bestDivisor = (fps: number, standards: readonly number[]): number =>
  standards.toSorted((a, b) => (fps % a) - (fps % b) || b - a)[0] ?? fps
