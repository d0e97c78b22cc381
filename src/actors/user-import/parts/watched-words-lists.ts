// Lists of watched words. A local list of the same name gets the missing words.

import { z } from 'zod'
import { findWatchedWords } from '../../watched-words/index.ts'
import type { PartImporter } from '../part-importer.ts'
import type { Deps } from './deps.ts'
import { name, readItem } from './fields.ts'

const MAX_WORDS = 500
const fields = z.object({ listName: name(1, 100), words: z.array(name(1, 100)).min(1).max(MAX_WORDS) })

export function makeWatchedWordsImporter({ db, watchedWords }: Deps): PartImporter<'watched-words-lists'> {
  return {
    part: 'watched-words-lists',
    async importItem(item, { accountId: ownerId }) {
      const { listName, words } = readItem(fields, item)
      const known = await findWatchedWords(db, { ownerId, name: listName })
      if (!known) {
        await watchedWords.add(ownerId, { name: listName, words })
        return 'success'
      }
      const all = [...new Set([...known.words, ...words])]
      if (all.length === new Set(known.words).size) return 'duplicate'
      if (all.length > MAX_WORDS) return { error: 'too_large' }
      await watchedWords.update(ownerId, known.id, { name: listName, words: all })
      return 'success'
    },
  }
}
