// Lists of videos: a small statement finds the ids of a page, and `readCards` reads their columns.
// Totals of the public list come from counters.

import type { LRUCache } from 'lru-cache'
import { type Columns, type Database, pageOf, roundedLimit } from '../../../platform/database/index.ts'
import { makeLru } from '../../../platform/lru.ts'
import { mutedChannels } from '../../blocklist/index.ts'
import type { History } from '../../history/history.entity.ts'
import { totalVideos } from '../deltas.ts'
import { isListedPrivacy } from '../video.entity.ts'
import type { VideoListRow } from '../video.rows.ts'
import { channelsOf, conditions, isBeyondListed, isCommon, isSelective, LISTED, searched, tableOf, UNLISTED } from './list-conditions.ts'
import { MOST_WEIGHED, orderBy, placed, sortedBy } from './list-order.ts'
import type { Bind, VideoListQuery } from './list-query.ts'
import { readCards } from './video-cards.ts'

export interface ListedVideo {
  id: number
  /** The watcher's last position, in seconds. */
  watchedSeconds: number | null
}

export interface Page<T> {
  /** Undefined if it was not requested. */
  total: number | undefined
  rows: T[]
}

export type VideoPage = Page<VideoListRow>

/** If a search finds fewer, similar names are included. */
const FEW = 15

/**
 * A page of videos in two statements, or in three or four if a search finds few. The order may not reflect counters of the last second yet.
 */
export async function listVideos(db: Pick<Database, 'query'>, query: VideoListQuery): Promise<VideoPage> {
  const { total, rows: listed } = await listVideoIds(db, query)
  const [rows = []] = await withCards(db, [listed], query.include)
  return { total, rows }
}

/** Pages with the columns of their videos, read in one statement. */
export async function withCards(
  db: Pick<Database, 'query'>,
  pages: readonly ListedVideo[][],
  include?: VideoListQuery['include'],
): Promise<VideoListRow[][]> {
  const ids = pages.flat().map(({ id }) => id)
  const cards = new Map((await readCards(db, ids, include)).map((card) => [card.id, card]))
  return pages.map((page) =>
    page.flatMap(({ id, watchedSeconds }) => {
      const card = cards.get(id)
      return card ? [{ ...card, watched_seconds: watchedSeconds }] : []
    }),
  )
}

/** Only the ids, for callers that cache the cards. */
export async function listVideoIds(db: Pick<Database, 'query'>, query: VideoListQuery): Promise<Page<ListedVideo>> {
  const page = await readPage(db, query)
  if (!query.search || !(await foundFew(db, query, page))) return page
  return readPage(db, { ...query, alike: true })
}

/** The same for all pages of a search. */
async function foundFew(db: Pick<Database, 'query'>, query: VideoListQuery, { total, rows }: Page<ListedVideo>): Promise<boolean> {
  if (total !== undefined) return total < FEW
  if (query.start === 0 && query.count >= FEW) return rows.length < FEW
  return (await readPage(db, { ...query, start: 0, count: FEW })).rows.length < FEW
}

async function readPage(db: Pick<Database, 'query'>, query: VideoListQuery): Promise<Page<ListedVideo>> {
  const read = isWeighed(query) ? readMatches : isFiltered(query) ? readFiltered : readList
  return toPage(await read(db, query), query)
}

const readList = (db: Pick<Database, 'query'>, query: VideoListQuery): Promise<PageRow> => readRow(db, query, buildVideoList(query))

/** A total above `mostRead` is remembered, since counting may visit every video. */
async function readFiltered(db: Pick<Database, 'query'>, query: VideoListQuery): Promise<PageRow> {
  const { scope, start, count, sort, mutedFor, watcher, include, ...filters } = query
  const key = JSON.stringify(filters)
  const { totals } = rememberedFor(db)
  const isKnown = totals.has(key)
  if (!isKnown) {
    const page = await readList(db, query)
    if ((page.total ?? 0) <= mostRead(query)) return page
  }
  const page = await readList(db, { ...query, totalUnmuted: await totals.fetch(key, { context: query }) })
  const total = page.total ?? 0
  const isOutdated = isShort(page, total, query) || (page.ids.length > 0 && total < start + page.ids.length)
  if (!isKnown || !isOutdated) return page
  totals.delete(key)
  return await readFiltered(db, query)
}

async function readMatches(db: Pick<Database, 'query'>, query: VideoListQuery): Promise<PageRow> {
  const key = JSON.stringify({ ...query, start: 0, count: 0 })
  const { frequent } = rememberedFor(db)
  const isKnown = frequent.has(key)
  let byWord = isKnown
  if (!isKnown) {
    const page = await readRow(db, query, buildMatches(query))
    if ((page.total ?? 0) <= MOST_COUNTED) return page
    byWord = page.isFrequent === true
    if (byWord) frequent.set(key, true)
  }
  const page = await readRow(db, query, buildVideoList({ ...query, byWord, skipCount: true }))
  if (!isKnown || !isShort(page, MOST_COUNTED, query)) return { ...page, total: MOST_COUNTED }
  frequent.delete(key)
  return await readMatches(db, query)
}

/** True if the remembered total promises more videos: many were removed or muted since. */
const isShort = ({ ids }: PageRow, total: number, { start, count }: VideoListQuery): boolean =>
  ids.length < count && start + ids.length < total

/** What need not be counted again for a while. */
interface Remembered {
  /** Searches for words in more than `MOST_COUNTED` videos. */
  frequent: LRUCache<string, true>
  /** By filters with more than `mostRead` matches, mutes aside. */
  totals: LRUCache<string, number, VideoListQuery>
}

const remembered = new WeakMap<object, Remembered>()
const MOST_REMEMBERED = 500
const REMEMBERED_MS = 600_000

function rememberedFor(db: Pick<Database, 'query'>): Remembered {
  const found = remembered.get(db)
  if (found) return found
  const fetchMethod = (_key: string, _stale: number | undefined, { context }: { context: VideoListQuery }) => countUnmuted(db, context)
  const made: Remembered = {
    frequent: makeLru(MOST_REMEMBERED, { ttl: REMEMBERED_MS }),
    totals: makeLru(MOST_REMEMBERED, { ttl: REMEMBERED_MS, fetchMethod }),
  }
  remembered.set(db, made)
  return made
}

async function countUnmuted({ query: run }: Pick<Database, 'query'>, query: VideoListQuery): Promise<number | undefined> {
  const values: unknown[] = []
  const visible = conditions(query, (value) => `$${values.push(value)}`).join(' and ')
  const [row] = await run<{ total: number }>(`select count(*)::int as total from ${tableOf(query)} where ${visible}`, values)
  return row?.total
}

async function readRow(
  db: Pick<Database, 'query'>,
  query: VideoListQuery,
  { text, values }: { text: string; values: unknown[] },
): Promise<PageRow> {
  const [row] = await db.query<PageRow>(text, values, { prepared: isCommon(query) && !isSelective(query) })
  return row ?? { total: 0, ids: [], positions: null }
}

const toPage = (row: PageRow, { skipCount }: VideoListQuery): Page<ListedVideo> => ({
  total: skipCount ? undefined : (row.total ?? 0),
  rows: listedIn(row),
})

/** A row of `buildVideoList`. */
export interface PageRow {
  total: number | null
  ids: number[]
  /** Null if there are none. */
  positions: Record<string, number> | null
  /** Of `buildMatches`. */
  isFrequent?: boolean
}

/** The same videos with the positions of this account. */
export async function withPositions(db: Pick<Database, 'query'>, videos: readonly ListedVideo[], watcher: number): Promise<ListedVideo[]> {
  const rows = await db.query<Columns<typeof History, 'videoId' | 'seconds'>>(
    'select video_id, seconds from history where account_id = $1 and video_id = any($2::int[])',
    [watcher, videos.map(({ id }) => id)],
  )
  const seconds = new Map(rows.map((row) => [row.video_id, row.seconds]))
  return videos.map(({ id }) => ({ id, watchedSeconds: seconds.get(id) ?? null }))
}

export const listedIn = ({ ids, positions }: PageRow): ListedVideo[] => ids.map((id) => ({ id, watchedSeconds: positions?.[id] ?? null }))

/**
 * The statement of a page, which returns one `PageRow`; its values are appended to `values`. If the total of a filtered list exceeds
 * `mostRead`, the page must not be used: it needs `totalUnmuted`.
 */
export function buildVideoList(query: VideoListQuery, values: unknown[] = []): { text: string; values: unknown[] } {
  const bind: Bind = (value) => `$${values.push(value)}`
  const rows = rowsOf(query, bind)
  const order = orderBy(query, bind)
  // Few matches are read once, for the total and for the page.
  const isFirst = isFiltered(query) && query.totalUnmuted === undefined
  const isReadOnce = isFirst || (rows.channels !== undefined && isSelective(query) && !query.search && !query.skipCount)
  const limit = isFirst ? `limit ${mostRead(query) + 1}` : ''
  const matched = isReadOnce
    ? `matched as materialized (select ${sortedBy(query)} from ${tableOf(query)} where ${rows.where} ${limit}), `
    : ''
  const total = query.skipCount ? 'null::int' : isReadOnce ? '(select count(*)::int from matched)' : totalOf(query, rows, bind)
  const listed = isReadOnce ? 'matched v' : source(query, { ...rows, order }, bind)
  const text = `with ${rows.table}${matched}page as materialized (
      select ${total} as total, ${idsOf(listed, order, query, bind)} as ids)
    select total, ids, ${positionsFor(query, bind)} as positions from page`
  return { text, values }
}

/**
 * The same for a search by similarity: all matches are read once, for the total and for the page. If the total exceeds `MOST_COUNTED`, there
 * are too many, and the page must not be used; `isFrequent` then tells whether they contain the words, not only parts of words.
 */
export function buildMatches(query: VideoListQuery): { text: string; values: unknown[] } {
  const values: unknown[] = []
  const bind: Bind = (value) => `$${values.push(value)}`
  const { search = '' } = query
  const { table, where } = rowsOf({ ...query, search: undefined }, bind)
  const order = orderBy(query, bind)
  const named = `(select m.*, m.name = any(${bind(spellings(search))}::text[]) as named from matched m)`
  // A single index reveals that a frequent word has too many matches.
  const frequent = `(select from video v where ${where} and v.words @@ search_words(${bind(search)}) limit ${MOST_COUNTED + 1}) found`
  const text = `with ${table}frequent as materialized (select count(*)::int as matches from ${frequent}), matched as materialized (
      select v.id, v.name, v.words, v.published_at, v.best from video v
      where ${where} and ${searched(query, bind)} and (select matches from frequent) <= ${MOST_COUNTED} limit ${MOST_COUNTED + 1}
    ), page as materialized (
      select greatest((select count(*)::int from matched), (select matches from frequent)) as total, ${idsOf(placed(named), order, query, bind)} as ids)
    select total, ids, ${positionsFor(query, bind)} as positions, (select matches from frequent) > ${MOST_COUNTED} as "isFrequent" from page`
  return { text, values }
}

/** True if its total has to be counted in the whole table. */
const isFiltered = ({ scope, search, skipCount, host, uuids, notWatchedBy, ...query }: VideoListQuery): boolean =>
  scope.of === 'everybody' &&
  !skipCount &&
  [search, host ?? undefined, uuids, notWatchedBy].every((filter) => filter === undefined) &&
  !isCounted({ scope, skipCount, host, ...query })

const isWeighed = ({ search, sort, scope }: VideoListQuery): boolean =>
  search !== undefined && sort.by === 'match' && scope.of !== 'watched'

/** The conditions of a list, and the common table expressions that they read. */
interface Rows {
  table: string
  /** Without the condition on channels. */
  visible: string
  /** The ids of the muted channels. */
  muted: string | undefined
  /** `visible`, and not muted. */
  unmuted: string
  /** The ids of the listed channels. */
  channels: string | undefined
  where: string
}

function rowsOf(query: VideoListQuery, bind: Bind): Rows {
  const visible = conditions(query, bind).join(' and ')
  const channels = channelsOf(query, bind)
  const { mutedFor } = query
  const table = mutedFor === undefined ? '' : `muted as materialized (${mutedChannels(mutedFor === null ? 'null' : bind(mutedFor))}), `
  const muted = mutedFor === undefined ? undefined : 'select id from muted'
  const unmuted = muted === undefined ? visible : `${visible} and v.channel_id not in (${muted})`
  const where = channels === undefined ? unmuted : `${unmuted} and v.channel_id in (${channels})`
  return { table, visible, muted, unmuted, channels, where }
}

const idsOf = (rows: string, order: string, query: VideoListQuery, bind: Bind): string =>
  `array(${pageOf({ columns: 'v.id', rows, order }, { start: query.start, count: query.count, limit: limitOf(query) }, bind)})`

const limitOf = (query: VideoListQuery): number => {
  const rows = Number(query.start) + Number(query.count)
  return isSelective(query) ? rows : roundedLimit(rows)
}

/** The watcher's last position in each video of the page. */
function positionsFor({ scope, watcher }: VideoListQuery, bind: Bind): string {
  const account = scope.of === 'watched' ? scope.accountId : watcher
  if (account === undefined) return 'null::jsonb'
  return `(select jsonb_object_agg(h.video_id, h.seconds) from history h
      where h.account_id = ${bind(account)} and h.video_id = any(page.ids))`
}

const WATCHED = 'history seen join video v on v.id = seen.video_id'

/**
 * The rows that the page is taken from. The indexes of an order contain either listed or unlisted videos, so for requesters who see both
 * the first rows of each are taken. For some channels the first rows of each channel are taken, since walking all videos takes the longer
 * the fewer these channels have.
 */
function source(query: VideoListQuery, { unmuted, where, channels, order }: Rows & { order: string }, bind: Bind): string {
  const { sort, search } = query
  const mayBeListed = query.privacyOneOf?.some(isListedPrivacy) ?? true
  const partsOf = (rows: string): string[] =>
    isBeyondListed(query) ? [...(mayBeListed ? [`${LISTED} and ${rows}`] : []), `${UNLISTED} and ${rows}`] : [rows]
  if (sort.by === 'match' && search) {
    const parts = partsOf(where)
    const isNamed = query.alike ? undefined : `v.name = any(${bind(spellings(search))}::text[])`
    const bestOf = (rows: string, named: boolean) =>
      `(select v.id, v.name, v.words, v.published_at, v.best, ${named} as named from video v where ${rows}
        order by v.best desc, v.id desc limit ${Math.max(MOST_WEIGHED, limitOf(query))})`
    const best = parts.flatMap((part) =>
      isNamed ? [bestOf(`${part} and ${isNamed}`, true), bestOf(`${part} and not ${isNamed}`, false)] : [bestOf(part, false)],
    )
    return placed(`(${best.join(' union all ')})`)
  }
  if (query.scope.of === 'watched') return `${WATCHED} where ${where}`
  const firstOf = (rows: string) =>
    `(select ${sortedBy(query)} from ${tableOf(query)} where ${rows} order by ${order} limit ${limitOf(query)})`
  if (channels !== undefined && !search) {
    const ofOne = `v.channel_id = chosen.id and ${unmuted}`
    return `(${channels}) chosen cross join lateral ${firstOf(ofOne)} v`
  }
  const parts = partsOf(where)
  return parts.length === 1 ? `${tableOf(query)} where ${parts.join('')}` : `(${parts.map(firstOf).join(' union all ')}) v`
}

/** The usual spellings of a name, so that an index by name finds them. */
const spellings = (search: string): string[] => {
  const small = search.toLowerCase()
  return [...new Set([search, small, small.charAt(0).toUpperCase() + small.slice(1), search.toUpperCase()])]
}

/** Matches are counted up to here: see docs/adr/0007. */
const MOST_COUNTED = 1_000

/**
 * Up to here, the matches of a filtered list are read at once, for its total and its page. But for one tag by publication, no order of lists
 * has an index by tags: of a million videos, walking one finds a page of fewer than 4,000 matches later than reading them all.
 */
const mostRead = ({ tagsOneOf, tagsAllOf, autoTagOneOf }: VideoListQuery): number =>
  tagsOneOf || tagsAllOf || autoTagOneOf ? 4_000 : MOST_COUNTED

/** The total: from the counters if they know all filters, or known from an earlier count, otherwise counted. */
function totalOf(query: VideoListQuery, { visible, where, muted }: Rows, bind: Bind): string {
  const from = query.scope.of === 'watched' ? WATCHED : tableOf(query)
  const counted = (rows: string) => `(select count(*)::int from ${from} where ${rows})`
  const butMuted = (all: string) => (muted === undefined ? all : `(${all} - ${counted(`${visible} and v.channel_id in (${muted})`)})`)
  if (query.search) return `(select count(*)::int from (select from ${from} where ${where} limit ${MOST_COUNTED}) found)`
  if (query.totalUnmuted !== undefined) return butMuted(`${bind(query.totalUnmuted)}::int`)
  if (!isCounted(query)) return counted(where)
  const { nsfw, isLocal } = query
  const all = totalVideos(
    [
      `privacy in (${privaciesIn(query).map(Number).join(', ') || 'null'})`,
      ...(query.unpublished ? [] : ['published']),
      ...(query.blocked ? [] : ['not blocked']),
      ...(query.strangers ? [] : ['listed']),
      ...(nsfw === undefined ? [] : [nsfw ? 'nsfw' : 'not nsfw']),
      ...(isLocal === undefined ? [] : [isLocal ? 'local' : 'not local']),
    ].join(' and '),
  )
  return butMuted(all)
}

const privaciesIn = ({ privacyOneOf, internal }: VideoListQuery): number[] => privacyOneOf ?? (internal ? [1, 4] : [1])

/** True if the counters know the total: no other filter is set, including filters added later. */
function isCounted(query: VideoListQuery): boolean {
  const { scope, start, count, sort, skipCount, internal, nsfw, isLocal, include, mutedFor, watcher, ...others } = query
  const { privacyOneOf, unpublished, blocked, strangers, ...filters } = others
  return scope.of === 'everybody' && Object.values(filters).every((filter) => filter === undefined || filter === false)
}
