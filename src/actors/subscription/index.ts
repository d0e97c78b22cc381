export { makeSubscriptions, type Subscriptions } from './subscription.commands.ts'
