// Part of `npm run check` (check-database.ts): the entities describe every table with its columns, their types, and nullability. Keys,
// defaults, indexes and triggers are only in the migrations (ADR 0016).

export interface Column {
  /** `table.column` */
  name: string
  /** `text`, `integer, null` and the like. */
  type: string
}

/** The columns of a database, as rows of `Column`. */
export const COLUMNS = `
  select c.relname || '.' || a.attname as name,
    format_type(a.atttypid, a.atttypmod) || case when a.attnotnull then '' else ', null' end as type
  from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace and c.relname <> 'migration'
  order by name`

/** The differences, one line per column. */
export function driftOf(migrated: Column[], described: Column[]): string[] {
  const left = new Map(described.map(({ name, type }) => [name, type]))
  const faults = migrated.flatMap(({ name, type }) => {
    const says = left.get(name) ?? 'nothing'
    left.delete(name)
    return says === type ? [] : [`${name} is ${type} after the migrations; the entities define ${says}`]
  })
  return [...faults, ...[...left].map(([name, type]) => `${name} is ${type} in the entities; no migration makes it`)]
}
