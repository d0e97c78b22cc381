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
export { retryDelivery } from './retry-delivery.ts'
