export { type Abuses, LONGEST_REASON, makeAbuses, type ReceivedReport } from './abuse.commands.ts'
export type { Abuse } from './abuse.entity.ts'
export {
  type AbuseRow,
  listAbuses,
  type ReportedAccount,
  type ReportedChannel,
  videoOfComment,
} from './abuse.queries.ts'
export { type AbuseMessageRow, type AbuseMessages, makeAbuseMessages } from './messages.ts'
export {
  predefinedReasonIds,
  predefinedReasonNames,
  predefinedReasons,
} from './predefined-reasons.ts'
export type { AbuseKind, AbuseSubject } from './subject.ts'
export { maintainAbuseTotals, reconcileAbuseTotals } from './totals.ts'
