export { isPublicAddress } from './addresses.ts'
export { type Dial, makeDial } from './dial.ts'
export { FetchError, type FetchFailure, toFetchError } from './errors.ts'
export {
  type FetchedBody,
  type FetchedStream,
  type FetchRequest,
  type GuardedFetch,
  type GuardedFetchOptions,
  makeGuardedFetch,
} from './guarded-fetch.ts'
export { type Resolve, systemResolve } from './guarded-lookup.ts'
export { type GuardedProxy, openGuardedProxy } from './guarded-proxy.ts'
