// The followers of a local actor on the requesting server (FEP-8fcf): each server sees its own, complete.

import { notFound } from '../../actors/runtime/index.ts'
import type { CachedAnswer } from '../cache.ts'
import { MAX_SYNCHRONIZED, ORIGIN } from '../delivery/follower-digests.ts'
import { buildWholeCollection } from '../wire/index.ts'
import { findActor } from './actor-collections.ts'
import { activity } from './answers.ts'
import type { DispatcherDeps } from './deps.ts'

/** `signer` is the address of the actor that signed the request. Throws DomainError. */
export async function followersOfServer(
  { db, urls }: Pick<DispatcherDeps, 'db' | 'urls'>,
  { owner, name }: { owner: 'account' | 'channel'; name: string },
  signer: string,
): Promise<CachedAnswer> {
  const actor = await findActor(db.query, { kind: owner, name })
  const { host, origin } = new URL(signer)
  const followers = await db.query<{ url: string }>(
    `select x.url from remote_host h join actor x on x.host_id = h.id join follow f on f.follower_id = x.id
     where h.host = $2 and f.target_id = $1 and f.state = 'accepted' and x.deleted_at is null and ${ORIGIN} = $3
     order by f.id limit ${MAX_SYNCHRONIZED + 1}`,
    [actor.id, host, origin],
  )
  if (followers.length > MAX_SYNCHRONIZED) throw notFound('These followers are too many to be listed at once.')
  const id = urls.followerSynchronization(actor.url)
  const items = followers.map(({ url }) => url)
  return activity(buildWholeCollection({ id, items }), {
    'cache-control': 'private, no-store',
    vary: 'Accept, Authorization, Signature, Signature-Input',
  })
}
