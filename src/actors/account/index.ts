export { findAccount } from './account.queries.ts'
