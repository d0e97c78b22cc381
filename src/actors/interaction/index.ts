export {
  type CleaningPlace,
  type InteractionCleaning,
  makeInteractionCleaning,
} from './cleaning.commands.ts'
export type { CleanedKind, RemoteInteraction } from './interactions.queries.ts'
