export type { RemoteWatch } from './remote-views.ts'
export {
  findOverallStatistics,
  findRetention,
  findTimeserie,
  groupIntervals,
} from './statistics.queries.ts'
export { makeViews, type Views } from './view.commands.ts'
export type { Watch } from './view.entity.ts'
export type { Section } from './watching.ts'
