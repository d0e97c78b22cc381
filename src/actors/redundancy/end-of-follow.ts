// Ends the mirroring of servers that are no longer followed, or that rejected the follow.

import { disallowRedundancy } from '../remote-host/remote-host.writes.ts'
import type { ActorDeps, Unit } from '../runtime/index.ts'

/** SQL: true if the local instance, `us`, follows an actor of the server `host`. */
const isFollowed = (us: string, host: string): string =>
  `exists (select 1 from follow f join actor other on other.id = f.target_id
     where f.follower_id = ${us} and f.state = 'accepted' and other.host_id = ${host})`

export function endWithFollow({
  registry,
  instanceActorId,
}: Pick<ActorDeps, 'registry'> & { instanceActorId: () => Promise<number> }): void {
  // A new follow requires a new decision about copies of its videos.
  registry.on('FollowWithdrawn', 'redundancy', async ({ followerId, targetId }, unit) => {
    if (followerId !== (await instanceActorId())) return
    const hosts = await unfollowed(unit, followerId, targetId)
    await disallowRedundancy(unit, hosts)
  })

  registry.on('FollowRejected', 'redundancy', async ({ followId }, unit) => {
    const [follow] = await unit.query<{ targetId: number }>(
      'select target_id as "targetId" from follow where id = $1 and follower_id = $2',
      [followId, await instanceActorId()],
    )
    if (follow) await unfollowed(unit, await instanceActorId(), follow.targetId)
  })
}

/** Ends the local copies of the actor's server, unless another actor there is followed. */
async function unfollowed(unit: Unit, us: number, targetId: number): Promise<number[]> {
  const hosts = await unit.query<{ id: number }>(
    `select t.host_id as id from actor t where t.id = $2 and t.host_id is not null and not ${isFollowed('$1', 't.host_id')}`,
    [us, targetId],
  )
  for (const { id } of hosts) unit.enqueue({ type: 'redundancy-removal', data: { hostId: id } })
  return hosts.map(({ id }) => id)
}

/** SQL: true if copies of videos of the server `h` must be removed, with the local instance as `us`. */
export const mustBeRemoved = (us: string): string => `(not h.redundancy_allowed or not ${isFollowed(us, 'h.id')})`
