// Follower synchronisation (FEP-8fcf), the sending side: an activity for the followers of a local actor carries a digest of those followers
// that are on the receiving server, and the address of their list, in case the receiver disagrees.

import type { Database } from '../../platform/database/index.ts'
import { makeLru } from '../../platform/lru.ts'

/** The digest without followers: nothing to XOR. */
const NO_FOLLOWERS = '0'.repeat(64)
/** Limit per server. Longer lists are neither sent nor shown, since a truncated list would end the missing follows. */
export const MAX_SYNCHRONIZED = 20_000

/** The digest of the followers of a local actor on an origin; null if they are too many. */
export type FollowerDigest = (actorId: number, origin: string) => Promise<string | null>

/** A slightly stale digest is harmless: a receiver that doubts it reads the list, which is always fresh. */
const KEPT_MS = 10_000
/** Counting may take at most one part in this many of the time. */
const SHARE = 20
const ACTORS = 1000

/** SQL: the origin of an actor `x`. */
export const ORIGIN = "lower(substring(x.url from '^https?://[^/]+'))"

/** By origin. */
type Digests = Map<string, string | null>

/** One statement computes the digests for all servers, so that deliveries do not query separately. */
export function makeFollowerDigests({ db }: { db: Pick<Database, 'query'> }): FollowerDigest {
  const kept = makeLru<number, Digests>(ACTORS, {
    async fetchMethod(actorId, _stale, { options }) {
      const begun = performance.now()
      const digests = await count(actorId)
      options.ttl = Math.max(KEPT_MS, (performance.now() - begun) * SHARE)
      return digests
    },
  })

  async function count(actorId: number): Promise<Digests> {
    const rows = await db.query<{ origin: string; followers: number; bits: string }>(
      `select ${ORIGIN} as origin, count(*)::int as followers,
         bit_xor(('x' || encode(sha256(convert_to(x.url, 'UTF8')), 'hex'))::bit(256))::text as bits
       from follow f join actor x on x.id = f.follower_id
       where f.target_id = $1 and f.state = 'accepted' and x.host_id is not null and x.deleted_at is null
       group by 1`,
      [actorId],
    )
    return new Map(rows.map(({ origin, followers, bits }) => [origin, followers > MAX_SYNCHRONIZED ? null : hexOf(bits)]))
  }

  return async (actorId, origin) => {
    const digest = (await kept.forceFetch(actorId)).get(origin)
    return digest === undefined ? NO_FOLLOWERS : digest
  }
}

const hexOf = (bits: string): string => BigInt(`0b${bits}`).toString(16).padStart(64, '0')
