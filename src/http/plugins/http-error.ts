// Refusals of HTTP only (405, 406, 416, 429, 501); those of the domain are `DomainError`.

export class HttpError extends Error {
  override readonly name = 'HttpError'
  readonly status: number
  readonly code: string | undefined
  readonly headers: Record<string, string>
  /** Replaces the problem body, if clients expect such a text; it may be empty. */
  readonly text: string | undefined
  /** Additional members of the problem body. */
  readonly extra: Record<string, unknown> | undefined

  constructor(
    status: number,
    detail: string,
    options: {
      code?: string
      headers?: Record<string, string>
      text?: string
      extra?: Record<string, unknown>
      cause?: unknown
    } = {},
  ) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause })
    this.status = status
    this.code = options.code
    this.headers = options.headers ?? {}
    this.text = options.text
    this.extra = options.extra
  }
}
