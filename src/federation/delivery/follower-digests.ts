// Follower synchronisation (FEP-8fcf), the sending side: with what goes to the followers of a local actor, each server
// is told a digest of those of its actors that follow it, and where it reads who they are when it believes otherwise.

import { LRUCache } from 'lru-cache'
import type { Database } from '../../platform/database/index.ts'

/** The digest of nobody: there is nothing to XOR. */
const NO_FOLLOWERS = '0'.repeat(64)
/** Of one server. More are neither told nor shown, since a list that is cut would end the follows that it leaves out. */
export const MOST_SYNCHRONIZED = 20_000

/** The digest of the followers that a local actor has on an origin; null where they are too many. */
export type FollowerDigest = (actorId: number, origin: string) => Promise<string | null>

/** A digest that is a little old does no harm: whoever doubts it reads the list, which is never old. */
const KEPT_MS = 10_000
/** One part of so many of the time goes into counting, at most. */
const SHARE = 20
const ACTORS = 1000

/** SQL: the origin of an actor `x`. */
export const ORIGIN = "lower(substring(x.url from '^https?://[^/]+'))"

/** By origin. */
type Digests = Map<string, string | null>

/** Those for all servers come from one statement, so that no delivery asks for its own. */
export function makeFollowerDigests({ db }: { db: Pick<Database, 'query'> }): FollowerDigest {
  const kept = new LRUCache<number, Digests>({ max: ACTORS })
  const counting = new Map<number, Promise<Digests>>()

  async function count(actorId: number): Promise<Digests> {
    const begun = performance.now()
    const rows = await db.query<{ origin: string; followers: number; bits: string }>(
      `select ${ORIGIN} as origin, count(*)::int as followers,
         bit_xor(('x' || encode(sha256(convert_to(x.url, 'UTF8')), 'hex'))::bit(256))::text as bits
       from follow f join actor x on x.id = f.follower_id
       where f.target_id = $1 and f.state = 'accepted' and x.host_id is not null and x.deleted_at is null
       group by 1`,
      [actorId],
    )
    const digests: Digests = new Map(
      rows.map(({ origin, followers, bits }) => [origin, followers > MOST_SYNCHRONIZED ? null : hexOf(bits)]),
    )
    kept.set(actorId, digests, { ttl: Math.max(KEPT_MS, (performance.now() - begun) * SHARE) })
    return digests
  }

  function counted(actorId: number): Promise<Digests> {
    const running = counting.get(actorId)
    if (running) return running
    const begun = count(actorId).finally(() => counting.delete(actorId))
    counting.set(actorId, begun)
    return begun
  }

  return async (actorId, origin) => {
    const digest = (kept.get(actorId) ?? (await counted(actorId))).get(origin)
    return digest === undefined ? NO_FOLLOWERS : digest
  }
}

const hexOf = (bits: string): string => BigInt(`0b${bits}`).toString(16).padStart(64, '0')
