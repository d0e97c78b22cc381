// Cache of compiled lists, which are compiled again when their words change.

import { LRUCache } from 'lru-cache'
import type { Database } from '../../platform/database/index.ts'
import type { Logger } from '../../platform/logger.ts'
import { makeTimeSlices } from '../../platform/time-slices.ts'
import { readText } from './reading.ts'
import { compileWords, type WordList } from './word-list.ts'

/** A stored list without its words. */
export interface StoredList {
  id: number
  version: number
}

/** The lists with a word in the text. */
export type FindLists = <L extends StoredList>(lists: readonly L[], text: string) => Promise<L[]>

/** Limit of all cached lists, in the units of `WordList`: some 10 bytes each. */
const MAX_KEPT = 5_000_000
/** Minimum size of a list. */
const OVERHEAD = 50

export function makeFindLists({ db, logger }: { db: Pick<Database, 'query'>; logger: Logger }): FindLists {
  const kept = new LRUCache<string, WordList>({ maxSize: MAX_KEPT, sizeCalculation: ({ size }) => size + OVERHEAD })
  const underWay = new Map<string, Promise<WordList | undefined>>()
  const keyOf = ({ id, version }: StoredList): string => `${id} ${version}`

  /** Undefined if the list was changed or removed meanwhile. */
  async function compile(list: StoredList): Promise<WordList | undefined> {
    const [row] = await db.query<{ words: string[] }>('select words from watched_words_list where id = $1 and version = $2', [
      list.id,
      list.version,
    ])
    if (!row) return undefined
    try {
      const compiled = await compileWords(row.words, makeTimeSlices())
      kept.set(keyOf(list), compiled)
      return compiled
    } catch (error) {
      // From a version with larger limits.
      logger.error({ err: error, list: list.id }, 'a list of watched words cannot be looked for')
      return undefined
    }
  }

  async function compiled(list: StoredList): Promise<WordList | undefined> {
    const key = keyOf(list)
    const known = kept.get(key) ?? underWay.get(key)
    if (known) return await known
    const made = compile(list).finally(() => underWay.delete(key))
    underWay.set(key, made)
    return await made
  }

  return async (lists, text) => {
    if (lists.length === 0) return []
    const pause = makeTimeSlices()
    const read = readText(text)
    const found: (typeof lists)[number][] = []
    for (const list of lists) {
      if (await (await compiled(list))?.find(read, pause)) found.push(list)
    }
    return found
  }
}
