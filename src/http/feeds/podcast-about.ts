// What a podcast is about, said by its videos: the language and the category that most of them have.

import { type Config, isMailEnabled, publicAddress } from '../../config/index.ts'

/** Apple's categories (podcasters.apple.com, 1691), the first of a row with the second below it; by `VideoCategory`. */
const CATEGORIES: Readonly<Record<number, readonly [string, string?]>> = {
  1: ['Music'],
  2: ['TV & Film'],
  3: ['Leisure', 'Automotive'],
  4: ['Arts'],
  5: ['Sports'],
  6: ['Society & Culture', 'Places & Travel'],
  7: ['Leisure', 'Video Games'],
  8: ['Society & Culture'],
  9: ['Comedy'],
  10: ['Leisure'],
  11: ['News'],
  12: ['Education', 'How To'],
  13: ['Education'],
  14: ['Society & Culture'],
  15: ['Technology'],
  16: ['Kids & Family', 'Pets & Animals'],
  17: ['Kids & Family'],
  18: ['Arts', 'Food'],
}

/** Apple's name of a category, with that of the one below it; undefined for those of plugins. */
export const podcastCategory = (category: number | undefined): readonly [string, string?] | undefined =>
  category === undefined ? undefined : CATEGORIES[category]

/** What more than half of them have; what is null counts as well, but is never it. */
export function mostHave<T extends string | number>(values: readonly (T | null)[]): T | undefined {
  const counts = new Map<T, number>()
  for (const value of values) if (value !== null) counts.set(value, (counts.get(value) ?? 0) + 1)
  return [...counts].find(([, count]) => count * 2 > values.length)?.[0]
}

/**
 * Where directories ask whether a podcast is its owner's: never at a user's own address. That of the operator where it is public already,
 * else the one that this server's mails come from; undefined without either.
 */
export const podcastEmail = (config: Config): string | undefined =>
  publicAddress(config) ?? (isMailEnabled(config) ? config.smtp.from_address : undefined)
