export { makeRemoteActorRemoval } from './remove-remote-actor.ts'
