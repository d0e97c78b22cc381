export { registerDeliveries, type Send, type SendOutcome, type WaitingDelivery } from './delivery.commands.ts'
export {
  type Dispatch,
  enqueueDocument,
  enqueueDocuments,
  followersOf,
  inboxOf,
  type OutgoingDocument,
  type Recipient,
} from './enqueue.ts'
export { retryDelivery, retryHost } from './retry-delivery.ts'
