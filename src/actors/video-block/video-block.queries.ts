// Blocked videos, for the staff.

import { type Columns, containing, type Database, type InJson, pageOf } from '../../platform/database/index.ts'
import { listColumns, type VideoListRow, videoJoins } from '../video/index.ts'
import type { VideoBlock } from './video-block.entity.ts'

const COLUMNS = {
  id: 'b.id',
  name: 'v.name',
  duration: 'v.duration',
  views: 'v.views',
  likes: 'v.likes',
  dislikes: 'v.dislikes',
  uuid: 'v.uuid',
  createdAt: 'b.created_at',
} as const

export type VideoBlockSortField = keyof typeof COLUMNS

export const videoBlockSortFields = [
  'id',
  'name',
  'duration',
  'views',
  'likes',
  'dislikes',
  'uuid',
  'createdAt',
] as const satisfies readonly VideoBlockSortField[]

export interface VideoBlockRow {
  block: InJson<Columns<typeof VideoBlock, 'id' | 'type' | 'reason' | 'unfederated' | 'createdAt' | 'updatedAt'>>
  video: VideoListRow
}

type Flat = { block: VideoBlockRow['block'] | null; total: number } & VideoListRow

/** A page of blocks, with the total of all matches. One statement. */
export async function listVideoBlocks(
  db: Pick<Database, 'query'>,
  query: {
    type?: number | undefined
    /** In the names of the videos. */
    search?: string | undefined
    start: number
    count: number
    sort: { by: VideoBlockSortField; descending: boolean }
  },
): Promise<{ total: number; rows: VideoBlockRow[] }> {
  const { type, search, sort } = query
  const values: unknown[] = []
  const bind = (value: unknown): string => `$${values.push(value)}`
  const where = [
    "v.state <> 'removed'",
    ...(type === undefined ? [] : [`b.type = ${bind(type)}`]),
    ...(search ? [`v.name ilike ${bind(containing(search))}`] : []),
  ].join(' and ')
  const matching = `video_block b join video v on v.id = b.video_id where ${where}`
  const direction = sort.descending ? 'desc' : 'asc'
  const order = `${COLUMNS[sort.by]} ${direction}, b.id ${direction}`
  const rows = await db.query<Flat>(
    `with page as materialized (
       ${pageOf({ columns: `b.*, ${COLUMNS[sort.by]} as sort_key`, rows: matching, order }, query, bind)}
     )
     select (select count(*)::int from ${matching}) as total, ${listColumns},
       case when page.id is not null then jsonb_build_object('id', page.id, 'type', page.type, 'reason', page.reason,
         'unfederated', page.unfederated, 'created_at', page.created_at, 'updated_at', page.updated_at) end as block
     from (values (1)) one left join page on true left join video v on v.id = page.video_id ${videoJoins}
     order by page.sort_key ${direction}, page.id ${direction}`,
    values,
  )
  return {
    total: rows[0]?.total ?? 0,
    rows: rows.flatMap(({ total: _total, block, ...video }) => (block ? [{ block, video }] : [])),
  }
}
