// Lists of videos: one statement for a page, whatever it is filtered by. Totals of the public list come from counters.

import type { Database } from '../../platform/database/index.ts'
import { mutedChannels } from '../blocklist/index.ts'
import { conditions, isBeyondListed, LISTED, UNLISTED, wordsOf } from './list-conditions.ts'
import type { Bind, VideoListQuery, VideoSortField } from './list-query.ts'
import {
  fileColumns,
  listColumns,
  mutedColumns,
  sourceColumn,
  type VideoListRow,
  videoJoins,
} from './video.rows.ts'

export interface VideoPage {
  /** Undefined when it was not to be counted. */
  total: number | undefined
  rows: VideoListRow[]
}

/** A page of videos in one statement. Counters folded within the last second may not yet act on the order. */
export async function listVideos(db: Pick<Database, 'query'>, query: VideoListQuery): Promise<VideoPage> {
  const { text, values } = buildVideoList(query)
  // With values to filter by, the best plan depends on them.
  const rows = await db.query<Listed>(text, values, { prepared: values.length === 0 })
  const total = query.skipCount ? undefined : (rows[0]?.total ?? 0)
  return { total, rows: rows.filter((row): row is VideoListRow & { total: number | null } => row.id !== null) }
}

type Listed = (VideoListRow & { total: number | null }) | { id: null; total: number | null }

/** The statement of a page. Of an empty page one row with nulls comes, so that the total is always there. */
export function buildVideoList(query: VideoListQuery): { text: string; values: unknown[] } {
  const values: unknown[] = []
  const bind: Bind = (value) => `$${values.push(value)}`
  const visible = conditions(query, bind).join(' and ')
  const muted =
    query.mutedFor === undefined ? undefined : mutedChannels(query.mutedFor === null ? 'null' : bind(query.mutedFor))
  const where = muted === undefined ? visible : `${visible} and v.channel_id not in (${muted})`
  const order = orderBy(query, bind)
  const total = query.skipCount ? 'null::int' : totalOf(query, { visible, where, muted })
  const text = `with page as materialized (
      select v.id from ${source(query, where)} order by ${order} limit ${Number(query.count)}${query.start === 0 ? '' : ` offset ${bind(query.start)}`}
    )
    select ${total} as total, ${columns(query, bind)}
    from (values (1)) one left join page on true left join video v on v.id = page.id ${videoJoins}
    order by ${order}`
  return { text, values }
}

function columns({ include = {} }: VideoListQuery, bind: Bind): string {
  const { files = false, source: wantsSource = false, mutedFor } = include
  return [
    listColumns,
    ...(files ? [fileColumns] : []),
    ...(wantsSource ? [sourceColumn] : []),
    ...(mutedFor === undefined ? [] : [mutedColumns(mutedFor === null ? 'null' : bind(mutedFor))]),
  ].join(', ')
}

/** The best of so many matches are shown, the newest ones when there are more: a word may be in every name. */
const MOST_MATCHES = 1000

/**
 * The rows that the page is taken from. The indexes of an order hold what is listed or what is not, so whoever sees both gets
 * them merged.
 */
function source(query: VideoListQuery, where: string): string {
  const { sort, search, start } = query
  if (sort.by === 'match' && search) {
    const most = MOST_MATCHES + Number(start)
    return `(select v.* from video v where ${where} order by v.published_at desc, v.id desc limit ${most}) v`
  }
  if (!isBeyondListed(query)) return `video v where ${where}`
  return `(select v.* from video v where ${LISTED} and ${where}
    union all select v.* from video v where ${UNLISTED} and ${where}) v`
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

/** Every order ends in the id, so that pages neither overlap nor miss a video. Without words, the newest match best. */
function orderBy({ sort: { by, descending }, search }: VideoListQuery, bind: Bind): string {
  const direction = descending ? 'desc' : 'asc'
  const nulls = by === 'originallyPublishedAt' ? ' nulls last' : ''
  const keys = by === 'match' ? [...likeness(search, bind), 'v.published_at'] : COLUMNS[by]
  return [...keys, 'v.id'].map((key) => `${key} ${direction}${key === 'v.id' ? '' : nulls}`).join(', ')
}

/** How much the name is like the text, and how often it holds the words. */
function likeness(search: string | undefined, bind: Bind): string[] {
  if (!search) return []
  const word = bind(search)
  return [`similarity(v.name, ${word}) + ts_rank(video_words(v.name, v.tags), ${wordsOf(word)})`]
}

/** Videos in all: read from the counters where nothing is filtered but nsfw and origin, else counted. */
function totalOf(
  query: VideoListQuery,
  { visible, where, muted }: { visible: string; where: string; muted: string | undefined },
): string {
  if (!isCounted(query)) return `(select count(*)::int from video v where ${where})`
  const { nsfw, isLocal } = query
  const rows = [
    ...(nsfw === undefined ? [] : [`nsfw = ${nsfw === true}`]),
    ...(isLocal === undefined ? [] : [`local = ${isLocal === true}`]),
  ].join(' and ')
  const only = rows === '' ? '' : ` where ${rows}`
  const internal = query.internal ? ` + (select count(*) from video v where ${visible} and v.privacy = 4)` : ''
  const less =
    muted === undefined ? '' : ` - (select count(*) from video v where ${visible} and v.channel_id in (${muted}))`
  return `((select coalesce(sum(total), 0) from video_total${only})
    + (select coalesce(sum(delta), 0) from video_total_delta${only})${internal}${less})::int`
}

/** Whether the counters know the total. Every other filter has to be left out, those of later versions too. */
function isCounted(query: VideoListQuery): boolean {
  const { scope, start, count, sort, skipCount, internal, nsfw, isLocal, include, mutedFor, ...others } = query
  return scope.of === 'everybody' && Object.values(others).every((filter) => filter === undefined || filter === false)
}
