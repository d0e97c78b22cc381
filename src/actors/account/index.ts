export {
  type AccountListQuery,
  buildAccountList,
  type FoundAccount,
  findAccount,
  listAccounts,
} from './account.queries.ts'
