export {
  type Database,
  type DatabaseOptions,
  makeDatabase,
  ormOptions,
  type Row,
  type Sql,
  type Transaction,
} from './database.ts'
export {
  causesOf,
  isBadData,
  isDatabaseOutage,
  isOutage,
  isRetryable,
  isStatementTimeout,
  isUniqueViolation,
} from './errors.ts'
export { pageOf, roundedLimit } from './page-limits.ts'
export { containing } from './patterns.ts'
export type { Aliased, Columns, InJson, MaybeInJson, Nullable } from './rows.ts'
export { TextArray } from './text-array.ts'
