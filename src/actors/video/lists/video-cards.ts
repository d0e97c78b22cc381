// Videos as lists show them, read by their ids with one prepared statement for all lists.

import type { Database } from '../../../platform/database/index.ts'
import { tagsOfVideo } from '../../automatic-tag/index.ts'
import { fileColumns, listColumns, mutedColumns, sourceColumn, type VideoListRow, videoJoins } from '../video.rows.ts'
import type { Bind, VideoListQuery } from './list-query.ts'

/** The videos that exist, in no particular order. */
export async function readCards(
  db: Pick<Database, 'query'>,
  ids: readonly number[],
  include: VideoListQuery['include'] = {},
): Promise<VideoListRow[]> {
  if (ids.length === 0) return []
  const values: unknown[] = [ids]
  const columns = columnsOf(include, (value) => `$${values.push(value)}`)
  return await db.query<VideoListRow>(`select ${columns} from video v ${videoJoins} where v.id = any($1::int[])`, values)
}

function columnsOf(include: NonNullable<VideoListQuery['include']>, bind: Bind): string {
  const { files = false, source = false, automaticTags = false, description = false, mutedFor } = include
  return [
    listColumns,
    ...(files ? [fileColumns] : []),
    ...(description ? ['v.description as whole_description'] : []),
    ...(source ? [sourceColumn] : []),
    ...(automaticTags ? [`${tagsOfVideo('v.id')} as automatic_tags`] : []),
    ...(mutedFor === undefined ? [] : [mutedColumns(mutedFor === null ? 'null' : bind(mutedFor))]),
  ].join(', ')
}
