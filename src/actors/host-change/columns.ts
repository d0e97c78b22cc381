// The columns that may contain a local address: all text columns of all tables, so that none is forgotten.

import type { Sql } from '../../platform/database/index.ts'
import type { Replacement } from './patterns.ts'

export interface TextTable {
  table: string
  columns: { name: string; type: 'text' | 'jsonb' | 'array' }[]
}

/** Generated columns follow by themselves. */
const COLUMNS = `
  select c.table_name as "table", json_agg(json_build_object('name', c.column_name, 'type',
      case c.data_type when 'ARRAY' then 'array' when 'jsonb' then 'jsonb' else 'text' end)
    order by c.ordinal_position) as columns
  from information_schema.columns c
  join information_schema.tables t on t.table_schema = c.table_schema and t.table_name = c.table_name
  where c.table_schema = 'public' and t.table_type = 'BASE TABLE' and c.is_generated = 'NEVER'
    and (c.data_type in ('text', 'character varying', 'jsonb') or c.udt_name in ('_text', '_varchar'))
    and c.table_name <> 'migration'
  group by c.table_name order by c.table_name`

export const findTextTables = (query: Sql): Promise<TextTable[]> => query<TextTable>(COLUMNS)

type Column = TextTable['columns'][number]

const asText = ({ name, type }: Column): string => {
  if (type === 'array') return `array_to_string("${name}", ' ')`
  return type === 'jsonb' ? `"${name}"::text` : `"${name}"`
}

/** True if the column matches; `$1` is the pattern. */
export const holds = (column: Column): string => `${asText(column)} ~* $1`

/** The column with all replacements; the pairs are `$2`, `$3`, and so on. */
export function replaced(column: Column, replacements: readonly Replacement[]): string {
  const inside = (value: string): string =>
    replacements.reduce((text, _, index) => `regexp_replace(${text}, $${2 + 2 * index}, $${3 + 2 * index}, 'gi')`, value)
  const { name, type } = column
  if (type === 'jsonb') return `${inside(`"${name}"::text`)}::jsonb`
  if (type === 'text') return inside(`"${name}"`)
  return `case when "${name}" is not null then
    array(select ${inside('u')} from unnest("${name}") with ordinality as parts(u, n) order by n) end`
}

/** The values of `$1` and the others. */
export const valuesOf = (replacements: readonly Replacement[]): string[] => [
  replacements.map(({ pattern }) => `(?:${pattern})`).join('|'),
  ...replacements.flatMap(({ pattern, replacement }) => [pattern, replacement]),
]
