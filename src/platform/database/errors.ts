// PostgreSQL's error codes and their meaning for a command (https://www.postgresql.org/docs/current/errcodes-appendix.html).

import { DriverException } from '@mikro-orm/postgresql'

const SERIALIZATION_FAILURE = '40001'
const DEADLOCK_DETECTED = '40P01'
const LOCK_NOT_AVAILABLE = '55P03'
const QUERY_CANCELED = '57014'
const FEATURE_NOT_SUPPORTED = '0A000'
/** The function of PostgreSQL that checks a prepared statement before its execution (plancache.c). */
const REPLANNING = 'RevalidateCachedQuery'
/** The name of a prepared statement is not known to the server, or taken. */
const LOST_STATEMENTS = ['26000', '42P05']
const UNIQUE_VIOLATION = '23505'
/** Values that no column accepts: invalid UTF-8, numbers out of range. */
const DATA_EXCEPTIONS = /^22/

/** True if the transaction can simply be repeated. */
export const isRetryable = (error: unknown): boolean =>
  [SERIALIZATION_FAILURE, DEADLOCK_DETECTED].includes(codeOf(error) ?? '') || isStalePlan(error)

/**
 * True if a statement must be prepared anew: its columns changed with the schema, which PostgreSQL does not plan again, or the server has
 * other statements than this connection prepared (`DISCARD ALL`, a pooler).
 */
export const isStalePlan = (error: unknown): boolean =>
  causesOf(error).some(
    (cause) =>
      'code' in cause &&
      (LOST_STATEMENTS.includes(String(cause.code)) ||
        // The code has other meanings too, and the message depends on `lc_messages`.
        (cause.code === FEATURE_NOT_SUPPORTED && 'routine' in cause && cause.routine === REPLANNING)),
  )

export const isLockTimeout = (error: unknown): boolean => codeOf(error) === LOCK_NOT_AVAILABLE

/** True if a statement was cancelled because it took too long. */
export const isStatementTimeout = (error: unknown): boolean => codeOf(error) === QUERY_CANCELED

/** True if the values themselves were refused, so that no retry with them succeeds. */
export const isBadData = (error: unknown): boolean => DATA_EXCEPTIONS.test(codeOf(error) ?? '')

/** True if a unique index refused the row; with `constraint`, that index. */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  if (codeOf(error) !== UNIQUE_VIOLATION) return false
  return constraint === undefined || messageOf(error).includes(constraint)
}

/** Codes while the database is unavailable: shutdown, start, too many connections, locks, no connection. */
const OUTAGE = /^(?:08...|57P0[123]|53[0-4]00|55P03|40001|40P01|ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND)$/
/** Messages of the driver, without a code, for connections that are lost or cannot be opened. */
const LOST = [
  'Connection terminated',
  'Client has encountered a connection error and is not queryable',
  'Client was closed and is not queryable',
  'timeout expired',
  'timeout exceeded when trying to connect',
]

/** True if the database is unavailable. If the connection is lost during a commit, the result is unknown. */
export const isOutage = (error: unknown): boolean =>
  causesOf(error).some(
    (cause) =>
      ('code' in cause && typeof cause.code === 'string' && OUTAGE.test(cause.code)) ||
      // The socket of a stopped server does not exist.
      ('syscall' in cause && cause.syscall === 'connect') ||
      ('message' in cause && typeof cause.message === 'string' && isLost(cause.message)),
  )

const isLost = (message: string): boolean => LOST.some((text) => message.startsWith(text))

/** Thrown by a statement if the database is unreachable or unavailable. */
class DatabaseOutage extends Error {
  override readonly name = 'DatabaseOutage'
}

/** Rethrows the error of a statement, so that a database outage can be distinguished from one of another server. */
export function reportOutage(error: unknown): never {
  if (!isOutage(error) || isRetryable(error) || isLockTimeout(error)) throw error
  throw new DatabaseOutage(messageOf(error), { cause: error })
}

/** True if the database was unavailable, and not another server. */
export const isDatabaseOutage = (error: unknown): boolean =>
  causesOf(error).some(
    (cause) =>
      cause instanceof DatabaseOutage ||
      // For entities, which do not use the statements.
      (cause instanceof DriverException && isOutage(cause) && !isRetryable(cause) && !isLockTimeout(cause)),
  )

/** An error and its causes. */
export function causesOf(error: unknown): object[] {
  const causes: object[] = []
  for (let at = error; typeof at === 'object' && at !== null && causes.length < DEEPEST; ) {
    causes.push(at)
    at = 'cause' in at ? at.cause : undefined
  }
  return causes
}

const DEEPEST = 5

function codeOf(error: unknown): string | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    if ('code' in at && typeof at.code === 'string') return at.code
  }
  return undefined
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : '')
