// Reads of lists of watched words.

import type { Columns, Database, InJson } from '../../platform/database/index.ts'
import type { ListOwner } from './watched-words.commands.ts'
import type { WatchedWordsList } from './watched-words.entity.ts'

type Row = Columns<typeof WatchedWordsList, 'id' | 'name' | 'words' | 'createdAt' | 'updatedAt'>
export type WatchedWordsRow = InJson<Row>

export const watchedWordsSorts = ['createdAt', 'updatedAt', 'listName'] as const

const COLUMNS = { createdAt: 'created_at', updatedAt: 'updated_at', listName: 'name' } as const

/** Characters of the words that a summary begins with. */
const BEGINNING = 300

/** A list without its words, but for their number and the first ones. */
export type WatchedWordsSummary = Omit<WatchedWordsRow, 'words'> & { count: number; beginning: string }

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

/** The list of an owner with this id. One statement. */
export async function readWatchedWords(
  db: Pick<Database, 'query'>,
  { ownerId, id }: { ownerId: ListOwner; id: number },
): Promise<Row | undefined> {
  const [row] = await db.query<Row>(
    `select id, name, words, created_at, updated_at from watched_words_list
     where account_id is not distinct from $1::int and id = $2`,
    [ownerId, id],
  )
  return row
}

interface ListsQuery {
  ownerId: ListOwner
  start: number
  count: number
  sort: { by: (typeof watchedWordsSorts)[number]; descending: boolean }
}

/** A page of the lists of an owner, with their total. One statement. */
export const listWatchedWords = (db: Pick<Database, 'query'>, query: ListsQuery) => pageOf<WatchedWordsRow>(db, 'words', query)

/** The same in short, however many words there are. One statement. */
export const summarizeWatchedWords = (db: Pick<Database, 'query'>, query: ListsQuery) =>
  pageOf<WatchedWordsSummary>(db, `cardinality(words) as count, left(array_to_string(words, ', '), ${BEGINNING + 1}) as beginning`, query)

async function pageOf<Listed>(
  db: Pick<Database, 'query'>,
  columns: string,
  { ownerId, start, count, sort }: ListsQuery,
): Promise<{ total: number; rows: Listed[] }> {
  const direction = sort.descending ? 'desc' : 'asc'
  const order = `${COLUMNS[sort.by]} ${direction}, id ${direction}`
  const ofOwner = 'from watched_words_list where account_id is not distinct from $1::int'
  const [page] = await db.query<{ total: number; rows: Listed[] }>(
    `with page as (
       select id, name, ${columns}, created_at, updated_at ${ofOwner} order by ${order} limit $2 offset $3
     ) select (select count(*)::int ${ofOwner}) as total,
       coalesce((select jsonb_agg(page order by ${order}) from page), '[]') as rows`,
    [ownerId, count, start],
  )
  return page ?? { total: 0, rows: [] }
}
