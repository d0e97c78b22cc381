// Refreshes stale remote actors.

import { findActorById, type RemoteActors } from '../../actors/actor/index.ts'
import { DomainError, PermanentFailure } from '../../actors/runtime/index.ts'
import type { FederationDeps } from '../deps.ts'
import type { ResolveActor } from '../fetch/actors.ts'

/** Refreshes an actor; removes one that is gone from its server. */
export function makeRefreshActor(
  deps: FederationDeps & { resolveActor: ResolveActor; remoteActors: RemoteActors },
): (actorId: number) => Promise<void> {
  const { db, config, logger, resolveActor, remoteActors } = deps

  return async (actorId) => {
    const actor = await findActorById(db.query, actorId)
    if (!actor || actor.isLocal || actor.isGone) return
    try {
      await resolveActor(actor.url, { maxAgeMs: 0 })
    } catch (error) {
      if (!(error instanceof DomainError)) throw error
      if (await isGone(actorId, error)) return
      throw new PermanentFailure(error.message, { cause: error })
    }
  }

  /** True if its own server reports it as gone, or repeatedly as missing. */
  async function isGone(actorId: number, { kind, message }: DomainError): Promise<boolean> {
    if (kind !== 'gone' && kind !== 'not_found') return false
    const { missing_actor_strikes } = config().vireo.federation.refresh
    if (kind === 'not_found' && (await remoteActors.strike(actorId)) < missing_actor_strikes) return false
    logger.info({ reason: message }, 'a remote actor does not exist any more')
    await remoteActors.remove(actorId)
    return true
  }
}
