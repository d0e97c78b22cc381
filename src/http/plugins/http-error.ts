// Refusals that only HTTP knows (405, 406, 416, 429, 501): the domain's own are `DomainError`.

export class HttpError extends Error {
  override readonly name = 'HttpError'
  readonly status: number
  readonly code: string | undefined
  readonly headers: Record<string, string>
  /** In place of a problem body, where clients know such a text; it may be empty. */
  readonly text: string | undefined
  /** Further members of the problem body. */
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
