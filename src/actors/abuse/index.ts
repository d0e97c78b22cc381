export { type Abuses, LONGEST_REASON, makeAbuses } from './abuse.commands.ts'
export {
  type PredefinedReason,
  predefinedReasonIds,
  predefinedReasonNames,
  predefinedReasons,
} from './predefined-reasons.ts'
