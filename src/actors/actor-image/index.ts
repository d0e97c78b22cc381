export { type ActorImages, makeActorImages } from './actor-image.commands.ts'
export type { ActorImage } from './actor-image.entity.ts'
