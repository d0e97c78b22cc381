// The follower count of a remote actor, as its own server reports it, read by a job after the actor itself.

import type { RemoteActors } from '../../actors/actor/index.ts'
import type { FederationDeps } from '../deps.ts'
import { readCollectionPage } from '../fetch/collections.ts'
import { type FetchDocument, isHopeless } from '../fetch/documents.ts'

export function countRemoteFollowers(deps: FederationDeps & { fetchDocument: FetchDocument; remoteActors: RemoteActors }): void {
  const { registry, db, blocked, logger, fetchDocument, remoteActors } = deps

  registry.job('remote-followers', {
    queue: 'io',
    async run({ data }) {
      const actorId = Number(data.actorId)
      const [actor] = await db.query<{ url: string; followersUrl: string }>(
        `select url, followers_url as "followersUrl" from actor
         where id = $1 and host_id is not null and deleted_at is null and followers_url is not null`,
        [actorId],
      )
      if (!actor) return
      try {
        await blocked.refuseActor(actor.url)
        const { total } = await readCollectionPage(fetchDocument, actor.followersUrl)
        if (total !== null) await remoteActors.saveFollowers(actorId, total)
      } catch (error) {
        // Some servers do not report it; the old count stays.
        if (!isHopeless(error)) throw error
        logger.debug({ err: error, actor: actor.url }, 'a remote actor does not report its number of followers')
      }
    },
  })
}
