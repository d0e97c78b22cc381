export { findRating, makeRatings, type Ratings } from './rating.commands.ts'
export type { RatingType } from './rating.entity.ts'
export { buildRatingList, listRatings, type RatedVideoRow, type RatingListQuery } from './rating.queries.ts'
