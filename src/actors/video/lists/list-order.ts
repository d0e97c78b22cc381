// The order of lists of videos, and how well matches of a search match.

import type { Bind, VideoListQuery, VideoSortField } from './list-query.ts'

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

/** Of searches without words. */
const NEWEST = ['v.published_at']

/** The columns of the order, unless it is that of a search. */
export const sortedBy = ({ sort: { by } }: VideoListQuery): string => [...(by === 'match' ? NEWEST : COLUMNS[by]), 'v.id'].join(', ')

/** By a quantity: of equals, the oldest comes first in descending order. */
const AMOUNTS: ReadonlySet<VideoSortField | 'match'> = new Set(['views', 'likes', 'trending', 'localVideoFilesSize'])
/** Of equals, the oldest comes first in both directions. */
const OLDEST_FIRST: ReadonlySet<VideoSortField | 'match'> = new Set(['duration', 'likes'])

/** Every order ends in the id, so that pages neither overlap nor miss a video. Without words, the newest videos match best. */
export function orderBy({ scope, sort: { by, descending }, search }: VideoListQuery, bind: Bind): string {
  if (scope.of === 'watched') return 'seen.watched_at desc, v.id desc'
  const direction = descending ? 'desc' : 'asc'
  if (by === 'match' && search) return likeness(bind(search), direction)
  const nulls = by === 'originallyPublishedAt' ? ' nulls last' : ''
  const keys = by === 'match' ? NEWEST : COLUMNS[by]
  const ofEquals = OLDEST_FIRST.has(by) || descending === AMOUNTS.has(by) ? 'asc' : 'desc'
  return [...keys.map((key) => `${key} ${direction}${nulls}`), `v.id ${ofEquals}`].join(', ')
}

/** Videos with this name, then by the similarity of the name plus the frequency of the words, then the others. */
const likeness = (text: string, direction: 'asc' | 'desc'): string =>
  [
    'v.weighed desc',
    `v.named ${direction}`,
    `case when v.weighed and not v.named then similarity(v.name, ${text}) + ts_rank(v.words, search_words(${text})) end ${direction} nulls last`,
    `case when v.weighed and not v.named then v.published_at end ${direction} nulls last`,
    'v.best desc',
    'v.id desc',
  ].join(', ')

/**
 * Of the matches whose name is not the text, so many are compared with it, the most liked ones, since a word may be in every name. The
 * others follow, the most liked first, so that pages neither overlap nor miss one.
 */
export const MOST_WEIGHED = 100

/** Matches with `weighed`: true if they are compared with the text, or if it is their name. */
export const placed = (matches: string): string =>
  `(select m.*, m.named or row_number() over (partition by m.named order by m.best desc, m.id desc) <= ${MOST_WEIGHED} as weighed
    from ${matches} m) v`
