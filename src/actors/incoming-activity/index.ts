export type { ArrivedActivity } from './arrivals.ts'
export { awaitSavers, holdDeletes, isDeletedBy } from './deletions.ts'
export type { Subject } from './final-activities.ts'
export {
  type IncomingActivities,
  makeIncomingActivities,
  type StoredActivity,
  type Treatment,
  takeOnce,
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
  keepActivityTotals,
} from './totals.ts'
