export { claimedKeyId, hostOfKey } from './claimed-key.ts'
export { type DocumentChecks, makeDocumentChecks } from './document-checks.ts'
export {
  type ActorKeys,
  type DocumentVerdict,
  signDocument,
  verifyDocument,
} from './documents.ts'
export type { HeaderValues, InboundMessage, SignatureRefusal } from './http-message.ts'
export {
  type FindKey,
  importPrivateKey,
  type KnownKey,
  makePrivateKeyRing,
  multibaseOfPem,
  type PrivateKeyRing,
  pemOfMultibase,
  type SigningKey,
} from './keys.ts'
export * from './origin.ts'
export { type SignatureProfile, signOutgoing } from './sign-outgoing.ts'
export { type InboundVerdict, verifyInbound } from './verify-inbound.ts'
