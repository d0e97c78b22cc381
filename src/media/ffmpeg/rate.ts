// Frame rates as exact fractions, so that 29.97 stays 30000/1001 through the ladder.

export interface Rational {
  num: number
  den: number
}

export const toNumber = ({ num, den }: Rational): number => num / den

/** The notation of ffmpeg, such as `30000/1001`. */
export const formatRate = ({ num, den }: Rational): string => (den === 1 ? `${num}` : `${num}/${den}`)

/**
 * The standard rate near a measured average: a whole number, or an NTSC rate (n × 1000/1001), within 0.2 %; otherwise the nearest
 * thousandth.
 */
export function snapRate(rate: Rational): Rational {
  const value = toNumber(rate)
  const whole = Math.round(value)
  const ntsc = Math.round((value * 1001) / 1000)
  const candidates = [
    { num: whole, den: 1 },
    { num: ntsc * 1000, den: 1001 },
  ].filter((candidate) => candidate.num > 0)
  const nearest = candidates.toSorted((a, b) => Math.abs(toNumber(a) - value) - Math.abs(toNumber(b) - value))[0]
  if (nearest && Math.abs(toNumber(nearest) / value - 1) < 0.002) return nearest
  return { num: Math.max(1, Math.round(value * 1000)), den: 1000 }
}
