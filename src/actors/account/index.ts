export {
  type AccountListQuery,
  buildAccountList,
  type FoundAccount,
  findAccount,
  findAccountById,
  listAccounts,
} from './account.queries.ts'
