// Reads the audit log of a period.

import type { Columns, Sql } from '../../platform/database/index.ts'
import type { AuditLog } from './audit.entity.ts'

export interface AuditRow extends Columns<typeof AuditLog, 'at' | 'username' | 'role' | 'domain' | 'action'> {
  /** Before the change, or after the creation. */
  entity: Record<string, unknown>
  /** For an update: the changed fields with their new values; null for removed ones. */
  changes: Record<string, unknown> | null
}

/** Maximum rows of a response. */
const MOST = 20_000

/** Oldest first. If they exceed `maxChars` characters, the youngest ones. One statement. */
export async function listAudit(query: Sql, { from, to, maxChars }: { from: Date; to: Date; maxChars: number }): Promise<AuditRow[]> {
  return await query<AuditRow>(
    `select at, username, role, domain, action, entity, changes from (
       select l.*, sum(length(l.entity::text) + coalesce(length(l.changes::text), 0)) over (order by l.at desc, l.id desc) as chars
       from (select * from audit_log where at between $1 and $2 order by at desc, id desc limit ${MOST}) l
     ) sized where chars <= $3 order by at, id`,
    [from, to, maxChars],
  )
}

/** A page, youngest first. One statement. */
export async function pageOfAudit(
  query: Sql,
  { from, to, start, count }: { from: Date; to: Date; start: number; count: number },
): Promise<{ total: number; rows: AuditRow[] }> {
  const rows = await query<AuditRow & { total: number }>(
    `select counted.total, page.* from (select count(*)::int as total from audit_log where at between $1 and $2) counted
     left join lateral (
       select at, username, role, domain, action, entity, changes from audit_log where at between $1 and $2
       order by at desc, id desc limit $3 offset $4
     ) page on true`,
    [from, to, count, start],
  )
  return { total: rows[0]?.total ?? 0, rows: rows.filter(({ at }) => at !== null) }
}
