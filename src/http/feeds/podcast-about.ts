// The language and the category of a podcast: those of most of its videos.

import { type Config, isMailEnabled, publicAddress } from '../../config/index.ts'

/** Apple's categories (podcasters.apple.com, 1691), with their subcategories; by `VideoCategory`. */
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

/** Apple's category and subcategory; undefined for those of plugins. */
export const podcastCategory = (category: number | undefined): readonly [string, string?] | undefined =>
  category === undefined ? undefined : CATEGORIES[category]

/** The value that more than half of them have; null counts, but is never the result. */
export function majorityOf<T extends string | number>(values: readonly (T | null)[]): T | undefined {
  const counts = new Map<T, number>()
  for (const value of values) if (value !== null) counts.set(value, (counts.get(value) ?? 0) + 1)
  return [...counts].find(([, count]) => count * 2 > values.length)?.[0]
}

/**
 * The address for ownership checks by directories: never a user's own. That of the operator if it is public, otherwise the sender of this
 * server's mails; undefined without either.
 */
export const podcastEmail = (config: Config): string | undefined =>
  publicAddress(config) ?? (isMailEnabled(config) ? config.smtp.from_address : undefined)
