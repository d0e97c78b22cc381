// Errors of requests to other servers, by what callers need to distinguish.

export type FetchFailure =
  /** Not a URL, not http(s), plain http although only https is allowed, or with credentials. */
  | 'refused-url'
  /** The host is, or resolves to, an address that is not public. */
  | 'refused-address'
  | 'dns'
  /** Nobody listens on the port. */
  | 'refused'
  | 'unreachable'
  | 'reset'
  | 'tls'
  | 'timeout'
  | 'too-large'
  /** Too many redirects, a loop, or an invalid target. */
  | 'redirect'
  /** The response is not HTTP, or its content encoding is unknown or broken. */
  | 'protocol'
  /** The fetcher was closed, or the caller aborted. */
  | 'aborted'

/** A request without a usable response. A response with an error status is not an error. */
export class FetchError extends Error {
  override readonly name = 'FetchError'
  readonly reason: FetchFailure
  /** Without query and credentials: errors are logged. */
  readonly url: string

  constructor(reason: FetchFailure, url: string, options: { message?: string; cause?: unknown } = {}) {
    const shown = withoutSecrets(url)
    super(`${options.message ?? reason}: ${shown}`, options.cause === undefined ? undefined : { cause: options.cause })
    this.reason = reason
    this.url = shown
  }
}

function withoutSecrets(text: string): string {
  const url = URL.parse(text)
  if (url?.protocol === 'https:' || url?.protocol === 'http:') return url.origin + url.pathname
  // An invalid address may have been intended as one.
  return (text.split(/[?#]/, 1)[0] ?? '').replace(/\/\/[^/]*@/, '//')
}

const BY_CODE: Record<string, FetchFailure> = {
  ENOTFOUND: 'dns',
  EAI_AGAIN: 'dns',
  EAI_FAIL: 'dns',
  EAI_NODATA: 'dns',
  ECONNREFUSED: 'refused',
  ENETUNREACH: 'unreachable',
  EHOSTUNREACH: 'unreachable',
  EADDRNOTAVAIL: 'unreachable',
  EACCES: 'unreachable',
  ECONNRESET: 'reset',
  ECONNABORTED: 'reset',
  EPIPE: 'reset',
  UND_ERR_SOCKET: 'reset',
  ETIMEDOUT: 'timeout',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_TIMEOUT: 'timeout',
  UND_ERR_BODY_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_OVERFLOW: 'too-large',
  UND_ERR_RES_EXCEEDED_MAX_SIZE: 'too-large',
  UND_ERR_ABORTED: 'aborted',
  UND_ERR_DESTROYED: 'aborted',
  UND_ERR_CLOSED: 'aborted',
  ABORT_ERR: 'aborted',
  EPROTO: 'tls',
}

const TLS_CODE = /^(ERR_SSL|ERR_TLS|CERT_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE)/

/** Converts any error of the HTTP client for `url`. */
export function toFetchError(error: unknown, url: string): FetchError {
  if (error instanceof FetchError) return error
  for (const found of causes(error)) {
    if (found instanceof FetchError) return found
    const code = 'code' in found && typeof found.code === 'string' ? found.code : ''
    const reason = BY_CODE[code] ?? (TLS_CODE.test(code) ? 'tls' : undefined)
    if (reason) return new FetchError(reason, url, { cause: error })
  }
  return new FetchError('protocol', url, { cause: error })
}

/** The error, its causes, and the members of an aggregate (several addresses were tried). */
function* causes(error: unknown, depth = 0): Generator<object> {
  if (typeof error !== 'object' || error === null || depth > 5) return
  yield error
  if ('errors' in error && Array.isArray(error.errors)) for (const member of error.errors) yield* causes(member, depth + 1)
  if ('cause' in error) yield* causes(error.cause, depth + 1)
}
