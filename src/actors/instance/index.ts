export { findHomepage, type Homepage, makeHomepage } from './homepage.ts'
export { type Instance, type LocalClient, makeInstance } from './instance.commands.ts'
export { claimLook, restoreLook } from './instance.writes.ts'
export {
  type InstanceFacts,
  type InstanceFactsReader,
  type InstanceImage,
  makeInstanceFacts,
} from './instance-facts.ts'
export { lookForNewVersions } from './new-version.ts'
