// Part of `npm run check`: entities and SQL statements fit the tables that the migrations make, in a PostgreSQL of its own.

import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MikroORM } from '@mikro-orm/postgresql'
import { migrations } from '../migrations/index.ts'
import { entities } from '../src/entities.ts'
import { ormOptions } from '../src/platform/database/index.ts'
import { startEmbeddedPostgres } from '../src/platform/embedded-postgres.ts'
import { silentLogger } from '../src/platform/logger.ts'
import { COLUMNS, type Column, driftOf } from './check-entities.ts'
import { statementFaults } from './check-statements.ts'

const folder = await mkdtemp(join(tmpdir(), 'vireo-check-'))
await chmod(folder, 0o711)
const postgres = await startEmbeddedPostgres({ dataDir: join(folder, 'postgres'), logger: silentLogger, fsync: false })

const urlOf = (database: string) => Object.assign(new URL(postgres.url), { pathname: `/${database}` }).href

async function columnsAfter(dbName: string, make: (orm: MikroORM) => Promise<unknown>): Promise<Column[]> {
  const orm = await MikroORM.init(ormOptions({ url: urlOf(dbName), poolMax: 1, entities, migrations, logger: silentLogger }))
  await orm.schema.ensureDatabase()
  await make(orm)
  const columns: Column[] = await orm.em.execute(COLUMNS)
  await orm.close()
  return columns
}

try {
  const migrated = await columnsAfter('migrated', (orm) => orm.migrator.up())
  const drift = driftOf(migrated, await columnsAfter('described', (orm) => orm.schema.create()))
  const { faults, summary } = await statementFaults(urlOf('migrated'))
  for (const fault of [...drift, ...faults]) console.error(fault)
  console.log(`${migrated.length} columns, ${summary}: ${drift.length + faults.length} faults`)
  process.exitCode = migrated.length > 0 && drift.length + faults.length === 0 ? 0 : 1
} finally {
  await postgres.stop()
  await rm(folder, { recursive: true, force: true })
}
