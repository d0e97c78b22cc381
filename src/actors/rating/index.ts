export { findRating, makeRatings, type Ratings, type RatingType } from './rating.commands.ts'
export { buildRatingList, listRatings, type RatedVideoRow, type RatingListQuery } from './rating.queries.ts'
