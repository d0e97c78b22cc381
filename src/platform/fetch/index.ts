export { isPublicAddress } from './addresses.ts'
export { FetchError, type FetchFailure } from './errors.ts'
export {
  type FetchedBody,
  type FetchedStream,
  type FetchRequest,
  type GuardedFetch,
  type GuardedFetchOptions,
  makeGuardedFetch,
} from './guarded-fetch.ts'
