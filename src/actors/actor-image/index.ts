export { type ActorImages, makeActorImages } from './actor-image.commands.ts'
