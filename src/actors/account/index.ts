export { type AccountListQuery, buildAccountList, findAccount, listAccounts } from './account.queries.ts'
