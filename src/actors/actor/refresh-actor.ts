// Refreshes stale remote actors by a job when somebody views them. The viewer never waits.

import type { ActorDeps } from '../runtime/index.ts'
import type { RemoteActors } from './remote-actor.commands.ts'

/** How old the stored copy of an actor is. */
export interface SeenActor {
  id: number
  remote: boolean
  /** Null for a local one. */
  refreshedAt: Date | null
}

/** SQL for the columns of a `SeenActor`; `actor` is an alias of its row. */
export const seenColumns = (actor: string): string =>
  `${actor}.id as "actorId", ${actor}.host_id is not null as remote, ${actor}.refreshed_at as "refreshedAt"`

/** Reports a view of an actor. Returns at once and never throws. */
export type LookedAtActor = (actor: SeenActor) => void

export function makeLookedAtActor({
  clock,
  config,
  logger,
  remoteActors,
}: ActorDeps & { remoteActors: Pick<RemoteActors, 'askRefresh'> }): LookedAtActor {
  return ({ id, remote, refreshedAt }) => {
    const oldest = clock.now().getTime() - config().vireo.federation.refresh.actor
    if (!remote || (refreshedAt !== null && refreshedAt.getTime() >= oldest)) return
    remoteActors.askRefresh(id).catch((error: unknown) => logger.warn({ err: error, actor: id }, 'a refresh could not be queued'))
  }
}
