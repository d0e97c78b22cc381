// Who may keep the answer with a file, and for how long.

export type Caching = Readonly<Record<string, string>>

/** A file that is for everybody; kept for `seconds`, and asked about again afterwards. */
export const openFile = (seconds: number): Caching => ({ 'cache-control': `public, max-age=${seconds}` })

/** Shared caches keep nothing: CDNs (RFC 9213), those that know Edge Architecture, and nginx. */
const NOT_SHARED = { 'cdn-cache-control': 'no-store', 'surrogate-control': 'no-store', 'x-accel-expires': '0' }

/**
 * A file for those alone who may read it. Clients know `Cache-Control` as the reference sends it: what they keep is
 * asked about each time, with their credentials. A cache on the way that knows none of the other headers has to ask too,
 * and by `Vary` only for requests with the same credentials (the file token is in the address).
 */
export const PRIVATE_FILE: Caching = {
  ...openFile(0),
  ...NOT_SHARED,
  vary: 'Authorization, Cookie, X-PeerTube-Video-Password',
}

/** Parts of private videos of which the reference says nothing: no cache that keeps to RFC 9111 has them. */
export const PRIVATE_PART: Caching = { 'cache-control': 'private, no-cache', ...NOT_SHARED }
