// Reads of lists of watched words.

import type { Columns, Database, InJson } from '../../platform/database/index.ts'
import type { ListOwner } from './watched-words.commands.ts'
import type { WatchedWordsList } from './watched-words.entity.ts'

export type WatchedWordsRow = InJson<Columns<typeof WatchedWordsList, 'id' | 'name' | 'words' | 'createdAt' | 'updatedAt'>>

export const watchedWordsSorts = ['createdAt', 'updatedAt', 'listName'] as const

const COLUMNS = { createdAt: 'created_at', updatedAt: 'updated_at', listName: 'name' } as const

/** The list of this name. One statement. */
export async function findWatchedWords(
  db: Pick<Database, 'query'>,
  { ownerId, name }: { ownerId: ListOwner; name: string },
): Promise<{ id: number; words: string[] } | undefined> {
  const [row] = await db.query<Columns<typeof WatchedWordsList, 'id' | 'words'>>(
    'select id, words from watched_words_list where account_id is not distinct from $1::int and name = $2',
    [ownerId, name],
  )
  return row
}

/** A page of the lists of an owner, with their total. One statement. */
export async function listWatchedWords(
  db: Pick<Database, 'query'>,
  query: {
    ownerId: ListOwner
    start: number
    count: number
    sort: { by: (typeof watchedWordsSorts)[number]; descending: boolean }
  },
): Promise<{ total: number; rows: WatchedWordsRow[] }> {
  const { ownerId, start, count, sort } = query
  const direction = sort.descending ? 'desc' : 'asc'
  const order = `${COLUMNS[sort.by]} ${direction}, id ${direction}`
  const ofOwner = 'from watched_words_list where account_id is not distinct from $1::int'
  const [page] = await db.query<{ total: number; rows: WatchedWordsRow[] }>(
    `with page as (
       select id, name, words, created_at, updated_at ${ofOwner} order by ${order} limit $2 offset $3
     ) select (select count(*)::int ${ofOwner}) as total,
       coalesce((select jsonb_agg(page order by ${order}) from page), '[]') as rows`,
    [ownerId, count, start],
  )
  return page ?? { total: 0, rows: [] }
}
