export { type Audit, type Auditor, makeAudit, pruneAuditLog } from './audit.commands.ts'
export { type AuditRow, listAudit } from './audit.queries.ts'
export { type AuditDomain, PREFIXES } from './audited-fields.ts'
