export { findRating, makeRatings, type Ratings, type RatingType } from './rating.commands.ts'
