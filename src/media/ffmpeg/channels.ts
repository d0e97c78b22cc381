// Sound with more than two channels, or with an unknown layout.

import type { AudioProbe } from './media-probe.ts'

/** Layouts that FFmpeg can downmix to stereo. */
const KNOWN = new Set([
  'mono',
  'stereo',
  'downmix',
  '2.1',
  '3.0',
  '3.0(back)',
  '3.1',
  '4.0',
  '4.1',
  'quad',
  'quad(side)',
  '5.0',
  '5.0(side)',
  '5.1',
  '5.1(side)',
  '6.0',
  '6.0(front)',
  '6.1',
  '6.1(back)',
  '6.1(front)',
  'hexagonal',
  '7.0',
  '7.0(front)',
  '7.1',
  '7.1(wide)',
  '7.1(wide-side)',
  'octagonal',
])
/** Up to this number of channels it guesses the layout. */
const MAX_GUESSED = 8

/**
 * Filters for sound that FFmpeg cannot downmix, before all others; none if it can. Of a recorder's tracks the first two are used, of
 * ambisonic sound the omnidirectional one.
 */
export function mixable({ channels, layout }: Pick<AudioProbe, 'channels' | 'layout'>): string[] {
  const isKnown = layout === undefined ? channels <= MAX_GUESSED : KNOWN.has(layout)
  if (isKnown) return []
  const isOne = channels < 2 || layout?.startsWith('ambisonic') === true
  return [`pan=stereo|c0=c0|c1=${isOne ? 'c0' : 'c1'}`]
}
