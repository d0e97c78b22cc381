// What the audit log says of a time.

import type { Sql } from '../../platform/database/index.ts'
import type { AuditDomain } from './portraits.ts'

export interface AuditRow {
  at: Date
  username: string
  role: number
  domain: AuditDomain
  action: 'create' | 'update' | 'delete'
  /** As it was before the change, or when it was made. */
  entity: Record<string, unknown>
  /** Of an update: the fields that differ, as they are now; null for those that are gone. */
  changes: Record<string, unknown> | null
}

/** Rows that an answer has at most, whatever their length. */
const MOST = 20_000

/** The oldest first. When they are more than `maxChars` characters, the youngest. One statement. */
export async function listAudit(query: Sql, { from, to, maxChars }: { from: Date; to: Date; maxChars: number }): Promise<AuditRow[]> {
  return await query<AuditRow>(
    `select at, username, role, domain, action, entity, changes from (
       select l.*, sum(length(l.entity::text) + coalesce(length(l.changes::text), 0)) over (order by l.at desc, l.id desc) as chars
       from (select * from audit_log where at between $1 and $2 order by at desc, id desc limit ${MOST}) l
     ) sized where chars <= $3 order by at, id`,
    [from, to, maxChars],
  )
}
