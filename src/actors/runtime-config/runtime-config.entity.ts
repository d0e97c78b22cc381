// The part of the configuration that administrators edit, and its last author.

import { defineEntity, p } from '@mikro-orm/postgresql'
import { TextArray } from '../../platform/database/index.ts'

export const RuntimeConfig = defineEntity({
  name: 'RuntimeConfig',
  tableName: 'runtime_config',
  properties: {
    id: p.smallint().primary(),
    overrides: p.json<unknown>(),
    version: p.integer(),
    updatedAt: p.datetime(3),
  },
})

export const RuntimeConfigChange = defineEntity({
  name: 'RuntimeConfigChange',
  tableName: 'runtime_config_change',
  properties: {
    version: p.integer().primary(),
    userId: p.integer().nullable(),
    username: p.text(),
    keys: p.type(TextArray),
    createdAt: p.datetime(3),
  },
})
