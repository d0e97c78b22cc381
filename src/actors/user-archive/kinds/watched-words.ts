// The user's watched words lists for comments: `watched-words-lists`. A local list of the same name gets the missing words.

import { z } from 'zod'
import { findWatchedWords } from '../../watched-words/index.ts'
import { name, readItem } from '../import-fields.ts'
import { date, definePart, listOf } from '../part.ts'
import { iso, mapped, rowsOf } from '../rows.ts'

interface ListRow {
  key: number
  listName: string
  words: string[]
  createdAt: Date
  updatedAt: Date
}

const LISTS = `select id as key, name as "listName", words, created_at as "createdAt", updated_at as "updatedAt"
  from watched_words_list where account_id = $3 and id > $1 order by id limit $2`
/** A small page, since each list may have many words. */
const PAGE = 50

const MAX_WORDS = 500
const fields = z.object({ listName: name(1, 100), words: z.array(name(1, 100)).min(1).max(MAX_WORDS) })

export const watchedWords = definePart({
  name: 'watched-words-lists',
  list: 'watchedWordLists',
  item: z.object({ listName: z.string(), words: listOf(z.string()), createdAt: date.nullish(), updatedAt: date.nullish() }),
  result: 'watchedWordsLists',
  namedBy: 'listName',

  export: (of) =>
    mapped(rowsOf<ListRow>(of, LISTS, [of.user.account.id], PAGE), ({ key: _, ...list }) => ({
      ...list,
      createdAt: iso(list.createdAt),
      updatedAt: iso(list.updatedAt),
    })),

  import:
    (deps) =>
    async (item, { accountId: ownerId }) => {
      const { listName, words } = readItem(fields, item)
      const known = await findWatchedWords(deps.db, { ownerId, name: listName })
      if (!known) {
        await deps.watchedWords.add(ownerId, { name: listName, words })
        return 'success'
      }
      const all = [...new Set([...known.words, ...words])]
      if (all.length === new Set(known.words).size) return 'duplicate'
      if (all.length > MAX_WORDS) return { error: 'too_large' }
      await deps.watchedWords.update(ownerId, known.id, { name: listName, words: all })
      return 'success'
    },
})
