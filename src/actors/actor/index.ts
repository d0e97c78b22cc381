export type { Actor, ActorType } from './actor.entity.ts'
export { findActorById, findActorByUrl } from './actor.queries.ts'
export { type ActorImageRow, type ActorImageType, actorImageTypes, imagesOf } from './actor-image.rows.ts'
export { type ActorProfile, type ActorSummary, accountProfile, channelProfile, summaryOf } from './actor-profile.rows.ts'
export { freeActorName } from './free-name.ts'
export { INSTANCE_ACTOR_NAME, insertLocalActor } from './local-actor.ts'
export { type LookedAtActor, makeLookedAtActor, type SeenActor, seenColumns } from './refresh-actor.ts'
export {
  makeRemoteActors,
  queueRemoval,
  REMOTE_ACTOR_REMOVAL,
  type RemoteActor,
  type RemoteActors,
  recountActors,
  recountFollows,
  remoteActorLifecycle,
  type StoredActor,
} from './remote-actor.commands.ts'
export { foldActorTotals, reconcileActorTotals, registerActorTotals, totalOfActors } from './totals.ts'
