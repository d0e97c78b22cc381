// Cache headers of files.

export type Caching = Readonly<Record<string, string>>

/** A public file; cached for `seconds`, then revalidated. */
export const openFile = (seconds: number): Caching => ({ 'cache-control': `public, max-age=${seconds}` })

/** Shared caches must not store it: CDNs (RFC 9213), those with Edge Architecture, and nginx. */
const NOT_SHARED = { 'cdn-cache-control': 'no-store', 'surrogate-control': 'no-store', 'x-accel-expires': '0' }

/**
 * A private file. `Cache-Control` is as clients of the reference expect it: they revalidate each time, with their credentials. A shared
 * cache that knows none of the other headers has to revalidate too, and `Vary` limits it to requests with the same credentials (the file
 * token is in the address).
 */
export const PRIVATE_FILE: Caching = {
  ...openFile(0),
  ...NOT_SHARED,
  vary: 'Authorization, Cookie, X-PeerTube-Video-Password',
}

/** Parts of private videos without a reference: no cache that conforms to RFC 9111 stores them. */
export const PRIVATE_PART: Caching = { 'cache-control': 'private, no-cache', ...NOT_SHARED }
