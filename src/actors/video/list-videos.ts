// Lists of videos: one statement for a page, whatever it is filtered by. Totals of the public list come from counters.

import type { Database } from '../../platform/database/index.ts'
import { tagsOfVideo } from '../automatic-tag/index.ts'
import { mutedChannels } from '../blocklist/index.ts'
import { totalVideos } from './deltas.ts'
import { channelsOf, conditions, isBeyondListed, isSelective, LISTED, UNLISTED } from './list-conditions.ts'
import type { Bind, VideoListQuery, VideoSortField } from './list-query.ts'
import { fileColumns, listColumns, mutedColumns, sourceColumn, type VideoListRow, videoJoins } from './video.rows.ts'

export interface VideoPage {
  /** Undefined when it was not to be counted. */
  total: number | undefined
  rows: VideoListRow[]
}

/** Where a search finds less than this, names that are much like it are found too. */
const FEW = 15

/**
 * A page of videos in one statement; where a search finds few, in two or three. Counters folded within the last second may not
 * yet act on the order.
 */
export async function listVideos(db: Pick<Database, 'query'>, query: VideoListQuery): Promise<VideoPage> {
  const page = await readPage(db, query)
  if (!query.search || !(await foundFew(db, query, page))) return page
  return readPage(db, { ...query, alike: true })
}

/** The same for all pages of a search. */
async function foundFew(
  db: Pick<Database, 'query'>,
  query: VideoListQuery,
  { total, rows }: VideoPage,
): Promise<boolean> {
  if (total !== undefined) return total < FEW
  if (query.start === 0 && query.count >= FEW) return rows.length < FEW
  return (await readPage(db, { ...query, start: 0, count: FEW })).rows.length < FEW
}

async function readPage(db: Pick<Database, 'query'>, query: VideoListQuery): Promise<VideoPage> {
  const { text, values } = buildVideoList(query)
  const rows = await db.query<Listed>(text, values, { prepared: !isSelective(query) })
  const total = query.skipCount ? undefined : (rows[0]?.total ?? 0)
  return { total, rows: rows.filter((row): row is VideoListRow & { total: number | null } => row.id !== null) }
}

type Listed = (VideoListRow & { total: number | null }) | { id: null; total: number | null }

/**
 * The statement of a page; its values are added to those that there are. Of an empty page one row with nulls comes, so that the
 * total is always there.
 */
export function buildVideoList(query: VideoListQuery, values: unknown[] = []): { text: string; values: unknown[] } {
  const bind: Bind = (value) => `$${values.push(value)}`
  const visible = conditions(query, bind).join(' and ')
  const channels = channelsOf(query, bind)
  const muted =
    query.mutedFor === undefined ? undefined : mutedChannels(query.mutedFor === null ? 'null' : bind(query.mutedFor))
  const unmuted = muted === undefined ? visible : `${visible} and v.channel_id not in (${muted})`
  const where = channels === undefined ? unmuted : `${unmuted} and v.channel_id in (${channels})`
  const order = orderBy(query, bind)
  const total = query.skipCount ? 'null::int' : totalOf(query, { visible, where, muted })
  const positions = positionsFor(query, bind)
  const text = `with page as materialized (
      select v.id from ${source(query, { unmuted, where, channels, order }, bind)} order by ${order} limit ${Number(query.count)}${query.start === 0 ? '' : ` offset ${bind(query.start)}`}
    )
    select ${total} as total, ${[columns(query, bind), ...positions.columns].join(', ')}
    from (values (1)) one left join page on true left join video v on v.id = page.id ${videoJoins} ${positions.join}
    order by ${order}`
  return { text, values }
}

function columns({ include = {} }: VideoListQuery, bind: Bind): string {
  const { files = false, source: wantsSource = false, automaticTags = false, description = false, mutedFor } = include
  return [
    listColumns,
    ...(files ? [fileColumns] : []),
    ...(description ? ['v.description as whole_description'] : []),
    ...(wantsSource ? [sourceColumn] : []),
    ...(automaticTags ? [`${tagsOfVideo('v.id')} as automatic_tags`] : []),
    ...(mutedFor === undefined ? [] : [mutedColumns(mutedFor === null ? 'null' : bind(mutedFor))]),
  ].join(', ')
}

/** Where whoever asks was last in each video. */
function positionsFor({ scope, watcher }: VideoListQuery, bind: Bind): { columns: string[]; join: string } {
  const account = scope.of === 'watched' ? scope.accountId : watcher
  if (account === undefined) return { columns: [], join: '' }
  return {
    columns: ['seen.seconds as watched_seconds'],
    join: `left join history seen on seen.video_id = v.id and seen.account_id = ${bind(account)}`,
  }
}

const WATCHED = 'history seen join video v on v.id = seen.video_id'

/**
 * So many matches are weighed at a time, the best liked ones when there are more: a word may be in every name. The same ones for
 * all of the first pages, so that these neither overlap nor miss one.
 */
const MOST_MATCHES = 300
const weighed = ({ start, count }: VideoListQuery): number =>
  MOST_MATCHES * Math.max(1, Math.ceil((Number(start) + Number(count)) / MOST_MATCHES))

/**
 * The rows that the page is taken from. The indexes of an order hold what is listed or what is not, so whoever sees both gets
 * the first ones of either. Of some channels the first ones of each are taken: to go through everybody's until enough are theirs
 * takes the longer, the fewer they have.
 */
function source(
  query: VideoListQuery,
  { unmuted, where, channels, order }: { unmuted: string; where: string; channels: string | undefined; order: string },
  bind: Bind,
): string {
  const { sort, search, start, count } = query
  const mayBeListed = query.privacyOneOf?.some((privacy) => [1, 4].includes(privacy)) ?? true
  const partsOf = (rows: string): string[] =>
    isBeyondListed(query) ? [...(mayBeListed ? [`${LISTED} and ${rows}`] : []), `${UNLISTED} and ${rows}`] : [rows]
  if (sort.by === 'match' && search) {
    // What is called like that comes first, however few have seen it.
    const parts = partsOf(where)
    const named = query.alike ? [] : parts.map((part) => `${part} and v.name = any(${bind(spellings(search))}::text[])`)
    const bestOf = (rows: string) =>
      `(select v.id, v.name, v.words, v.published_at from video v where ${rows}
        order by v.best desc, v.id desc limit ${weighed(query)})`
    return `(${[...parts, ...named].map(bestOf).join(' union ')}) v`
  }
  if (query.scope.of === 'watched') return `${WATCHED} where ${where}`
  const firstOf = (rows: string) =>
    `(select ${SORTED_BY} from video v where ${rows} order by ${order} limit ${Number(start) + Number(count)})`
  if (channels !== undefined && !search) {
    const ofOne = `v.channel_id = chosen.id and ${unmuted}`
    return `(${channels}) chosen cross join lateral ${firstOf(ofOne)} v`
  }
  const parts = partsOf(where)
  return parts.length === 1 ? `video v where ${parts.join('')}` : `(${parts.map(firstOf).join(' union all ')}) v`
}

/** As names are mostly written, so that an index by name finds them. */
const spellings = (search: string): string[] => {
  const small = search.toLowerCase()
  return [...new Set([search, small, small.charAt(0).toUpperCase() + small.slice(1), search.toUpperCase()])]
}

const COLUMNS: Record<VideoSortField, readonly string[]> = {
  name: ['v.name'],
  duration: ['v.duration'],
  createdAt: ['v.created_at'],
  publishedAt: ['v.published_at'],
  originallyPublishedAt: ['v.originally_published_at'],
  views: ['v.views'],
  likes: ['v.likes'],
  trending: ['v.trending', 'v.views'],
  hot: ['v.hot'],
  best: ['v.best'],
  localVideoFilesSize: ['v.files_size'],
}

/** What orders are made from. */
const SORTED_BY = [...new Set(Object.values(COLUMNS).flat()), 'v.id'].join(', ')

/** By how much there is of something: of equals, the oldest comes first where the most does. */
const AMOUNTS: ReadonlySet<VideoSortField | 'match'> = new Set(['views', 'likes', 'trending', 'localVideoFilesSize'])
/** Of equals, the oldest comes first in both directions. */
const OLDEST_FIRST: ReadonlySet<VideoSortField | 'match'> = new Set(['duration', 'likes'])

/** Every order ends in the id, so that pages neither overlap nor miss a video. Without words, the newest match best. */
function orderBy({ scope, sort: { by, descending }, search }: VideoListQuery, bind: Bind): string {
  if (scope.of === 'watched') return 'seen.watched_at desc, v.id desc'
  const direction = descending ? 'desc' : 'asc'
  const nulls = by === 'originallyPublishedAt' ? ' nulls last' : ''
  const keys = by === 'match' ? [...likeness(search, bind), 'v.published_at'] : COLUMNS[by]
  const ofEquals = OLDEST_FIRST.has(by) || descending === AMOUNTS.has(by) ? 'asc' : 'desc'
  return [...keys.map((key) => `${key} ${direction}${nulls}`), `v.id ${ofEquals}`].join(', ')
}

/** How much the name is like the text, and how often it holds the words. */
function likeness(search: string | undefined, bind: Bind): string[] {
  if (!search) return []
  const word = bind(search)
  return [`similarity(v.name, ${word}) + ts_rank(v.words, search_words(${word}))`]
}

/** Matches are counted up to here. */
const MOST_COUNTED = 10_000

/** Videos in all: what is public is read from the counters where nothing is filtered but nsfw and origin, else counted. */
function totalOf(
  query: VideoListQuery,
  { visible, where, muted }: { visible: string; where: string; muted: string | undefined },
): string {
  const from = query.scope.of === 'watched' ? WATCHED : 'video v'
  const counted = (rows: string) => `(select count(*)::int from ${from} where ${rows})`
  if (query.search)
    return `(select count(*)::int from (select from ${from} where ${where} limit ${MOST_COUNTED}) found)`
  if (!isCounted(query)) return counted(where)
  const { nsfw, isLocal } = query
  const rows = [
    ...(nsfw === undefined ? [] : [`nsfw = ${nsfw === true}`]),
    ...(isLocal === undefined ? [] : [`local = ${isLocal === true}`]),
  ].join(' and ')
  const isPublic = `${visible} and v.privacy = 1 and v.state = 'published'`
  const sums = [
    totalVideos(rows === '' ? undefined : rows),
    ...(query.internal ? [counted(`${where} and v.privacy = 4 and v.state = 'published'`)] : []),
    ...(isBeyondListed(query) ? [counted(`${where} and ${UNLISTED}`)] : []),
    ...(query.blocked ? [counted(`${where} and v.blocked and v.privacy = 1 and v.state = 'published'`)] : []),
  ].join(' + ')
  if (muted === undefined) return `(${sums})`
  return `(${sums} - ${counted(`${isPublic} and not v.blocked and v.channel_id in (${muted})`)})`
}

/** Whether the counters know the public ones. Every other filter has to be left out, those of later versions too. */
function isCounted(query: VideoListQuery): boolean {
  const { scope, start, count, sort, skipCount, internal, nsfw, isLocal, include, mutedFor, watcher, ...others } = query
  const { privacyOneOf, unpublished, blocked, ...filters } = others
  const wanted = privacyOneOf ?? (internal ? [1, 4] : [1])
  const isEverything = wanted.includes(1) && wanted.includes(4) === internal
  return (
    scope.of === 'everybody' &&
    isEverything &&
    Object.values(filters).every((filter) => filter === undefined || filter === false)
  )
}
