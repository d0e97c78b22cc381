// The one catalogue of refusals of commands. `http/plugins/errors.ts` and `federation/inbound` map the codes.

export const errorKinds = {
  invalid: 'The request is malformed or inconsistent.',
  unauthenticated: 'The requester is unknown.',
  forbidden: 'The requester may not do this.',
  not_found: 'The object does not exist, or is not visible to the requester.',
  conflict: 'The state of the object does not allow this.',
  gone: 'The object was deleted.',
  too_large: 'The body or the file is larger than allowed.',
  unsupported_media_type: 'The type of the file is not accepted.',
  unprocessable: 'The file or document was read and cannot be used.',
  too_many: 'Too many requests; try again later.',
  busy: 'The resource is in use now; try again.',
  unavailable: 'A required service is disabled or unreachable.',
} as const

export type ErrorKind = keyof typeof errorKinds

/** One refused parameter, as clients of the REST API read it in `invalid-params`. */
export interface InvalidParam {
  name: string
  location: 'params' | 'body' | 'header' | 'query' | 'cookies'
  msg: string
  value?: unknown
}

/**
 * A refusal. `kind` decides the HTTP status and the treatment of an activity; `code` is the contract's internal code
 * (`limits.json`, errors.serverCodes and oauthCodes), when there is one; `message` is for the client.
 */
export class DomainError extends Error {
  override readonly name = 'DomainError'
  readonly kind: ErrorKind
  readonly code: string | undefined
  readonly invalidParams: InvalidParam[]
  /** Response headers that belong to the refusal, such as `Range` or `X-File-Maximum-Size`. */
  readonly headers: Record<string, string>
  /** Further members of the problem body, such as `originUrl`. */
  readonly extra: Record<string, string> | undefined

  constructor(
    kind: ErrorKind,
    message: string,
    options: {
      code?: string
      invalidParams?: InvalidParam[]
      headers?: Record<string, string>
      extra?: Record<string, string>
      cause?: unknown
    } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.kind = kind
    this.code = options.code
    this.invalidParams = options.invalidParams ?? []
    this.headers = options.headers ?? {}
    this.extra = options.extra
  }
}

/** For removals: another request may be faster, or the thing was removed with its parent. Throws all other refusals. */
export async function ignoreNotFound(removal: Promise<void>): Promise<void> {
  try {
    await removal
  } catch (error) {
    if (error instanceof DomainError && (error.kind === 'not_found' || error.kind === 'conflict')) return
    throw error
  }
}

/** Returns the result of the work; undefined if its subject is removed. Throws all other refusals. */
export async function ifThere<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (error instanceof DomainError && error.kind === 'not_found') return undefined
    throw error
  }
}

export const notFound = (message: string, code?: string): DomainError =>
  new DomainError('not_found', message, code === undefined ? {} : { code })
