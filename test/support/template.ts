// Prepares the template database that every test database is copied from, with the tables of the queue. It closes all its connections
// before it returns.

import { migrations } from '../../migrations/index.ts'
import { entities } from '../../src/entities.ts'
import { makeDatabase } from '../../src/platform/database/index.ts'
import { silentLogger } from '../../src/platform/logger.ts'
import { makeQueue } from '../../src/platform/queue/index.ts'

export default async function prepareTemplate(url: string): Promise<void> {
  const db = await makeDatabase({ url, poolMax: 2, entities, migrations, logger: silentLogger })
  await db.migrate()
  await db.close()
  const backend = { kind: 'postgres', connectionString: url, schema: 'bullmq', poolMax: 1 } as const
  const queue = await makeQueue({ backend, prefix: 'template', logger: silentLogger })
  await queue.close()
}
