// Changes by the staff and users.

import { defineEntity, p } from '@mikro-orm/postgresql'
import type { AuditDomain } from './audited-fields.ts'

export const AuditLog = defineEntity({
  name: 'AuditLog',
  tableName: 'audit_log',
  properties: {
    id: p.bigint('number').primary(),
    at: p.datetime(3),
    userId: p.integer(),
    username: p.text(),
    role: p.smallint(),
    domain: p.text().$type<AuditDomain>(),
    action: p.text().$type<'create' | 'update' | 'delete'>(),
    entityId: p.bigint('number'),
    entity: p.json<unknown>(),
    changes: p.json<object>().nullable(),
  },
})
