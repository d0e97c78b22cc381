export { type NotedDecision, type Reason, reasons, type Verdict, verdicts } from './decision.ts'
export {
  type InboundDecisionRow,
  type InboundDecisionsQuery,
  listInboundDecisions,
} from './inbound-decision.queries.ts'
export { type InboundJournal, makeInboundJournal } from './journal.ts'
