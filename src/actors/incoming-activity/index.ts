export type { ArrivedActivity } from './arrivals.ts'
export { awaitSavers, blockDeletes, isDeletedBy } from './deletions.ts'
export type { Subject } from './final-activities.ts'
export {
  claimOnce,
  type IncomingActivities,
  makeIncomingActivities,
  type StoredActivity,
  type Treatment,
  type Verification,
} from './incoming-activity.commands.ts'
export {
  countWaitingActivities,
  listParkedActivities,
  type ParkedActivityRow,
} from './incoming-activity.queries.ts'
export {
  type ActivityTotals,
  activityTotals,
  type CountedType,
  countedAs,
  countedTypes,
  maintainActivityTotals,
} from './totals.ts'
