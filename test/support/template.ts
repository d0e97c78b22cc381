// Prepares the template that every test database is copied from. All connections must be closed when it returns.

import { migrations } from '../../migrations/index.ts'
import { entities } from '../../src/actors/entities.ts'
import { makeDatabase } from '../../src/platform/database/index.ts'
import { silentLogger } from '../../src/platform/logger.ts'

export default async function prepareTemplate(url: string): Promise<void> {
  const db = await makeDatabase({ url, poolMax: 2, entities, migrations, logger: silentLogger })
  await db.migrate()
  await db.close()
}
