export { type Audit, type Auditor, makeAudit, pruneAuditLog } from './audit.commands.ts'
export { type AuditRow, listAudit, pageOfAudit } from './audit.queries.ts'
export { type AuditDomain, PREFIXES } from './audited-fields.ts'
