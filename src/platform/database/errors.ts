// What PostgreSQL's error codes mean for a command (https://www.postgresql.org/docs/current/errcodes-appendix.html).

import { DriverException } from '@mikro-orm/postgresql'

const SERIALIZATION_FAILURE = '40001'
const DEADLOCK_DETECTED = '40P01'
const LOCK_NOT_AVAILABLE = '55P03'
const QUERY_CANCELED = '57014'
const FEATURE_NOT_SUPPORTED = '0A000'
const UNIQUE_VIOLATION = '23505'
/** Values that no column takes: text that is no UTF-8, numbers out of range. */
const DATA_EXCEPTIONS = /^22/

/** Whether the transaction may simply be run again. */
export const isRetryable = (error: unknown): boolean =>
  [SERIALIZATION_FAILURE, DEADLOCK_DETECTED].includes(codeOf(error) ?? '') || isStalePlan(error)

/** Whether a prepared statement has other columns since the schema was changed; no setting of PostgreSQL plans it anew. */
export const isStalePlan = (error: unknown): boolean =>
  codeOf(error) === FEATURE_NOT_SUPPORTED && messageOf(error).includes('cached plan must not change result type')

export const isLockTimeout = (error: unknown): boolean => codeOf(error) === LOCK_NOT_AVAILABLE

/** Whether a statement was ended because it took too long. */
export const isStatementTimeout = (error: unknown): boolean => codeOf(error) === QUERY_CANCELED

/** Whether the database refused the values themselves, so that no other try with them succeeds. */
export const isBadData = (error: unknown): boolean => DATA_EXCEPTIONS.test(codeOf(error) ?? '')

/** Whether a unique index refused the row; with `constraint`, that index. */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  if (codeOf(error) !== UNIQUE_VIOLATION) return false
  return constraint === undefined || messageOf(error).includes(constraint)
}

/** What it says when it cannot work now: shutdown, start, too many connections, locks, no connection. */
const OUTAGE = /^(?:08...|57P0[123]|53[0-4]00|55P03|40001|40P01|ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND)$/
/** What the driver says, without a code, of a connection that ended under a statement or before it, or cannot be had. */
const LOST = [
  'Connection terminated',
  'Client has encountered a connection error and is not queryable',
  'Client was closed and is not queryable',
  'timeout expired',
  'timeout exceeded when trying to connect',
]

/**
 * Whether the database cannot be worked with now. Of a connection that is lost while a transaction ends nobody knows whether it
 * was stored.
 */
export const isOutage = (error: unknown): boolean =>
  causesOf(error).some(
    (cause) =>
      ('code' in cause && typeof cause.code === 'string' && OUTAGE.test(cause.code)) ||
      // There is no socket of a server that does not run.
      ('syscall' in cause && cause.syscall === 'connect') ||
      ('message' in cause && typeof cause.message === 'string' && isLost(cause.message)),
  )

const isLost = (message: string): boolean => LOST.some((text) => message.startsWith(text))

/** What a statement throws that the database could not be reached for, or could not take now. */
class DatabaseOutage extends Error {
  override readonly name = 'DatabaseOutage'
}

/** Throws the error of a statement so that an outage can be told from one of another server. */
export function tellOutage(error: unknown): never {
  if (!isOutage(error) || isRetryable(error) || isLockTimeout(error)) throw error
  throw new DatabaseOutage(messageOf(error), { cause: error })
}

/** Whether it was the database that could not be worked with, and not another server. */
export const isDatabaseOutage = (error: unknown): boolean =>
  causesOf(error).some(
    (cause) =>
      cause instanceof DatabaseOutage ||
      // Of entities, which are read and written past the statements.
      (cause instanceof DriverException && isOutage(cause) && !isRetryable(cause) && !isLockTimeout(cause)),
  )

/** An error and what caused it. */
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
