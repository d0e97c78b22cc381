// The user's watched words lists for comments: `watched-words-lists`.

import type { PartItem } from '../../user-archive/index.ts'
import type { Export } from '../export.ts'
import { iso, rowsOf } from '../rows.ts'

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

export const writeWatchedWords = (of: Export): Promise<void> =>
  of.writer.list('watched-words-lists', items(rowsOf<ListRow>(of, LISTS, [of.user.account.id], PAGE)))

async function* items(rows: AsyncIterable<ListRow>): AsyncGenerator<PartItem<'watched-words-lists'>> {
  for await (const { listName, words, createdAt, updatedAt } of rows) {
    yield { listName, words, createdAt: iso(createdAt), updatedAt: iso(updatedAt) }
  }
}
