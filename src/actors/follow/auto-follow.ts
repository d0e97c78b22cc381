// Follows back the servers that follow this one, if so configured.

import type { ActorDeps } from '../runtime/index.ts'

export function followBack(deps: ActorDeps & { instanceActorId: () => Promise<number> }): void {
  const { registry, config, instanceActorId } = deps

  registry.on('FollowerAccepted', 'follow-back', async ({ followId }, unit) => {
    if (!config().followings.instance.auto_follow_back.enabled) return
    // A server that is already followed, or that rejected a follow, is not asked again.
    const [follower] = await unit.query<{ id: number }>(
      `select a.id from follow f join actor a on a.id = f.follower_id
       where f.id = $1 and f.target_id = $2 and f.state = 'accepted' and a.type = 'Application' and a.host_id is not null
         and not exists (select 1 from follow b where b.follower_id = $2 and b.target_id = a.id and b.state <> 'none')`,
      [followId, await instanceActorId()],
    )
    if (!follower) return
    unit.enqueue({
      type: 'activitypub-follow',
      // The job checks whether it still follows this server.
      data: { actorId: follower.id, followBackOf: followId },
      dedupeKey: `follow-back-${follower.id}`,
    })
  })
}
