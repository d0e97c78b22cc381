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

/** For a list that cannot be searched: larger than the cache, so it is not kept. */
const NOTHING: WordList = { size: MAX_KEPT, find: async () => false }

export function makeFindLists({ db, logger }: { db: Pick<Database, 'query'>; logger: Logger }): FindLists {
  const kept = new LRUCache<string, WordList, StoredList>({
    maxSize: MAX_KEPT,
    sizeCalculation: ({ size }) => size + OVERHEAD,
    fetchMethod: (_key, _stale, { context }) => compile(context),
    ignoreFetchAbort: true,
  })

  async function compile({ id, version }: StoredList): Promise<WordList> {
    const [row] = await db.query<{ words: string[] }>('select words from watched_words_list where id = $1 and version = $2', [id, version])
    // It was changed or removed meanwhile.
    if (!row) return NOTHING
    try {
      return await compileWords(row.words, makeTimeSlices())
    } catch (error) {
      // From a version with larger limits.
      logger.error({ err: error, list: id }, 'a list of watched words cannot be looked for')
      return NOTHING
    }
  }

  return async (lists, text) => {
    if (lists.length === 0) return []
    const pause = makeTimeSlices()
    const read = readText(text)
    const found: (typeof lists)[number][] = []
    for (const list of lists) {
      const words = await kept.forceFetch(`${list.id} ${list.version}`, { context: list })
      if (await words.find(read, pause)) found.push(list)
    }
    return found
  }
}
