// `vireo migrate`: updates the schema, which a start of the server does too.

import { migrations } from '../../migrations/index.ts'
import type { LoadedConfig } from '../config/index.ts'
import { openDatabaseServer } from '../connections.ts'
import { entities } from '../entities.ts'
import { type Database, makeDatabase } from '../platform/database/index.ts'
import type { Tools } from './family.ts'
import { commandLogger } from './operate.ts'

/** One holds the lock of the migrations. */
const CONNECTIONS = 2

export function migrateCommands({ program, load, out }: Tools): void {
  program
    .command('migrate')
    .description('apply pending migrations, one process at a time, and end')
    .option('--dry-run', 'say which are pending, and change nothing')
    .option('--list', 'the same')
    .action(async ({ dryRun, list }: { dryRun?: boolean; list?: boolean }) => {
      await withDatabase(load(), async (db) => {
        if (dryRun || list) {
          const pending = await db.pendingMigrations()
          out.answer({ pending }, pending.length === 0 ? 'The schema is up to date.' : ['Pending:', ...pending])
          return
        }
        const applied = await db.migrate()
        out.answer({ applied }, applied.length === 0 ? 'The schema was up to date.' : ['Applied:', ...applied])
      })
    })
}

export interface DatabaseConnection {
  url: string
  ssl: boolean
  verifyCertificate: boolean
}

/** Runs `work` with the database, without migrations and without a server. */
export async function withDatabase<T>(
  loaded: LoadedConfig,
  work: (db: Database, connection: DatabaseConnection) => Promise<T>,
): Promise<T> {
  const logger = commandLogger()
  const closers: (() => Promise<void>)[] = []
  try {
    const { url, ssl, verifyCertificate } = await openDatabaseServer({ loaded, logger }, closers)
    const connection = { url, ssl, verifyCertificate }
    const db = await makeDatabase({ ...connection, logger, poolMax: CONNECTIONS, entities, migrations })
    closers.push(() => db.close())
    return await work(db, connection)
  } finally {
    for (const close of closers.reverse()) await close()
  }
}
