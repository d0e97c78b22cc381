// The client of object storage: loaded on first use, with classified errors.

import { MediaError, messageOf, StorageOutage } from '../errors.ts'
import type { ObjectSettings } from './object-settings.ts'

/** Ms. */
const CONNECTION_TIMEOUT = 5_000
const SILENCE_TIMEOUT = 60_000
/** Maximum connections for files that are proxied; all other requests have as many of their own. */
const MAX_SOCKETS = 500

export type S3 = Awaited<ReturnType<typeof loadS3>>

/** Servers without object storage never load the libraries, which cost some 30 MB. */
export async function loadS3(settings: ObjectSettings) {
  const [sdk, { Upload }, { getSignedUrl }] = await Promise.all([
    import('@aws-sdk/client-s3'),
    import('@aws-sdk/lib-storage'),
    import('@aws-sdk/s3-request-presigner'),
  ])
  const { endpoint, region, credentials, pathStyle, attempts } = settings
  const makeClient = () =>
    new sdk.S3Client({
      endpoint,
      region,
      forcePathStyle: pathStyle,
      maxAttempts: attempts,
      ...(credentials.accessKeyId === '' ? {} : { credentials }),
      // Not every store supports the checksums that the library adds by default.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      requestHandler: {
        connectionTimeout: CONNECTION_TIMEOUT,
        socketTimeout: SILENCE_TIMEOUT,
        // For requests with a timeout; without it they would only be logged.
        throwOnRequestTimeout: true,
        httpAgent: { maxSockets: MAX_SOCKETS },
        httpsAgent: { maxSockets: MAX_SOCKETS },
      },
    })
  // Readers hold connections for any time, and must not block other requests.
  return { sdk, client: makeClient(), reader: makeClient(), Upload, getSignedUrl }
}

/** True if the store reports that there is no such object. */
export const isMissing = (error: unknown): boolean =>
  (nameOf(error) === 'NoSuchKey' || statusOf(error) === 404) && nameOf(error) !== 'NoSuchBucket'

/** True if the object has changed since the request was made. */
export const isReplaced = (error: unknown): boolean => statusOf(error) === 412

/**
 * Converts an error of the library: `not-found`, an outage for everything that time or the operator can fix, or a permanent refusal. The
 * message of the store is included for the operator.
 */
export function asStoreError(error: unknown): unknown {
  if (error instanceof MediaError || error instanceof StorageOutage) return error
  if (isMissing(error)) return new MediaError('not-found', 'There is no such file.')
  if (statusOf(error) === undefined && !isOfConnection(error)) return error
  if (isRefusedForGood(error)) {
    return new Error(`Object storage refuses the request: ${reasonOf(error)}`, { cause: error })
  }
  return new StorageOutage(`Object storage cannot be used now: ${reasonOf(error)}`, { cause: error })
}

/** 4xx responses that time, other credentials or another bucket can fix; all others mean a bad request. */
const MENDABLE_STATUSES: ReadonlySet<number> = new Set([401, 403, 404, 408, 409, 425, 429])
/** Error codes with status 400 (https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html). */
const MENDABLE_NAMES: ReadonlySet<string> = new Set([
  'AuthorizationHeaderMalformed',
  'BadDigest',
  'ExpiredToken',
  'IllegalLocationConstraintException',
  'IncompleteBody',
  'InvalidToken',
  'RequestTimeout',
  'SlowDown',
  'Throttling',
  'ThrottlingException',
  'TokenRefreshRequired',
])

function isRefusedForGood(error: unknown): boolean {
  const status = statusOf(error) ?? 0
  return status >= 400 && status < 500 && !MENDABLE_STATUSES.has(status) && !MENDABLE_NAMES.has(nameOf(error) ?? '')
}

/** One line for the operator. */
export function reasonOf(error: unknown): string {
  const status = statusOf(error)
  const code = codeOf(error)
  return [nameOf(error), code, status && `status ${status}`, messageOf(error)]
    .filter((part, index, parts) => part && parts.indexOf(part) === index)
    .join(', ')
    .replaceAll(/\s+/g, ' ')
}

function statusOf(error: unknown): number | undefined {
  if (!isObject(error) || !('$metadata' in error) || !isObject(error.$metadata)) return undefined
  const { $metadata } = error
  return 'httpStatusCode' in $metadata && typeof $metadata.httpStatusCode === 'number' ? $metadata.httpStatusCode : undefined
}

const CONNECTION_CODES =
  /^(?:E(?:CONN|HOST|NET|PIPE|TIMEDOUT|AI_AGAIN|NOTFOUND)|ENOTFOUND|ERR_TLS|CERT_|DEPTH_|UNABLE_TO|ERR_STREAM_PREMATURE_CLOSE)/
const CONNECTION_NAMES: ReadonlySet<string> = new Set(['TimeoutError', 'CredentialsProviderError', 'AggregateError'])

const isOfConnection = (error: unknown): boolean =>
  CONNECTION_CODES.test(codeOf(error) ?? '') ||
  CONNECTION_NAMES.has(nameOf(error) ?? '') ||
  messageOf(error) === 'socket hang up' ||
  messageOf(error) === 'aborted'

/** True for a timeout. */
export const isSilence = (error: unknown): boolean => nameOf(error) === 'TimeoutError' || codeOf(error) === 'ETIMEDOUT'

const nameOf = (error: unknown): string | undefined =>
  isObject(error) && 'name' in error && typeof error.name === 'string' ? error.name : undefined

const codeOf = (error: unknown): string | undefined =>
  isObject(error) && 'code' in error && typeof error.code === 'string' ? error.code : undefined

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null
