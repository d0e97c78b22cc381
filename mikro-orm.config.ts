// For MikroORM's own command line (`npx mikro-orm migration:list`): the database of DATABASE_URL, with our entities and
// migrations. The server itself is composed in src/compose.ts from the same settings.

import { PostgreSqlDriver } from '@mikro-orm/postgresql'
import { migrations } from './migrations/index.ts'
import { entities } from './src/entities.ts'
import { ormOptions } from './src/platform/database/index.ts'
import { silentLogger } from './src/platform/logger.ts'

const url = process.env.DATABASE_URL
if (!url) throw new Error('Set DATABASE_URL to the database that the command is about.')

export default {
  driver: PostgreSqlDriver,
  ...ormOptions({ url, poolMax: 2, entities, migrations, logger: silentLogger }),
}
