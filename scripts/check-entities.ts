// Part of `npm run check`: the entities describe every table with its columns, their types, and nullability. Keys, defaults, indexes and
// triggers are only in the migrations (ADR 0016).

import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { MikroORM } from '@mikro-orm/postgresql'
import { migrations } from '../migrations/index.ts'
import { entities } from '../src/entities.ts'
import { ormOptions } from '../src/platform/database/index.ts'
import { startEmbeddedPostgres } from '../src/platform/embedded-postgres.ts'
import { silentLogger } from '../src/platform/logger.ts'

export interface Column {
  /** `table.column` */
  name: string
  /** `text`, `integer, null` and the like. */
  type: string
}

const COLUMNS = `
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

async function check(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'vireo-entities-'))
  await chmod(folder, 0o711)
  const postgres = await startEmbeddedPostgres({ dataDir: join(folder, 'postgres'), logger: silentLogger, fsync: false })
  const columnsAfter = async (dbName: string, make: (orm: MikroORM) => Promise<unknown>): Promise<Column[]> => {
    const options = ormOptions({ url: postgres.url, poolMax: 1, entities, migrations, logger: silentLogger })
    const orm = await MikroORM.init({ ...options, dbName })
    await orm.schema.ensureDatabase()
    await make(orm)
    const columns: Column[] = await orm.em.execute(COLUMNS)
    await orm.close()
    return columns
  }
  try {
    const migrated = await columnsAfter('migrated', (orm) => orm.migrator.up())
    const described = await columnsAfter('described', (orm) => orm.schema.create())
    const faults = driftOf(migrated, described)
    for (const fault of faults) console.error(fault)
    console.log(`${migrated.length} columns, ${faults.length} faults`)
    process.exitCode = migrated.length > 0 && faults.length === 0 ? 0 : 1
  } finally {
    await postgres.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await check()
