// Closing a database.

import { expect, it } from '@jest/globals'
import { entities } from '../../../src/entities.ts'
import { makeDatabase } from '../../../src/platform/database/index.ts'
import { silentLogger } from '../../../src/platform/logger.ts'
import { freshDatabase, run } from '../../support/postgres.ts'
import { eventually } from '../../support/until.ts'

it('leaves no connection open, also after plain SQL only', async () => {
  const database = await freshDatabase()
  const db = await makeDatabase({ url: database.url, poolMax: 3, entities, migrations: [], logger: silentLogger })
  await Promise.all([1, 2, 3].map(() => db.query('select pg_sleep(0.05)')))
  await db.close()
  const others = 'select 1 from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()'
  await eventually(async () => expect(await run(database.url, others)).toEqual([]))
  await database.drop()
})
