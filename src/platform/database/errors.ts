// What PostgreSQL's error codes mean for a command (https://www.postgresql.org/docs/current/errcodes-appendix.html).

const SERIALIZATION_FAILURE = '40001'
const DEADLOCK_DETECTED = '40P01'
const LOCK_NOT_AVAILABLE = '55P03'
const UNIQUE_VIOLATION = '23505'
/** Values that no column takes: text that is no UTF-8, numbers out of range. */
const DATA_EXCEPTIONS = /^22/

/** Whether the transaction may simply be run again. */
export const isRetryable = (error: unknown): boolean =>
  [SERIALIZATION_FAILURE, DEADLOCK_DETECTED].includes(codeOf(error) ?? '')

export const isLockTimeout = (error: unknown): boolean => codeOf(error) === LOCK_NOT_AVAILABLE

/** Whether the database refused the values themselves, so that no other try with them succeeds. */
export const isBadData = (error: unknown): boolean => DATA_EXCEPTIONS.test(codeOf(error) ?? '')

/** Whether a unique index refused the row; with `constraint`, that index. */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  if (codeOf(error) !== UNIQUE_VIOLATION) return false
  return constraint === undefined || messageOf(error).includes(constraint)
}

function codeOf(error: unknown): string | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    if ('code' in at && typeof at.code === 'string') return at.code
  }
  return undefined
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : '')
