// Typed errors of bytes and media tools, with a reason for callers.

/**
 * - `invalid-name`, `not-found`, `exists`, `offset`, `disk-full`: the store. - `empty`, `playlist`, `not-media`, `truncated`, `unreadable`,
 * `no-streams`, `unsupported-codec`, `too-large`, `frame-rate`, `too-long`: the file was read and cannot be used; a retry will not help. -
 * `ffmpeg-missing`: no usable binary. `aborted`: the caller's signal. `stalled`, `memory`, `time-out`: the process was killed by a limit.
 * `failed`: ffmpeg ended with an error.
 */
export type MediaErrorReason =
  | 'invalid-name'
  | 'not-found'
  | 'exists'
  | 'offset'
  | 'disk-full'
  | 'empty'
  | 'playlist'
  | 'not-media'
  | 'truncated'
  | 'unreadable'
  | 'no-streams'
  | 'unsupported-codec'
  | 'too-large'
  | 'frame-rate'
  | 'too-long'
  | 'ffmpeg-missing'
  | 'aborted'
  | 'stalled'
  | 'memory'
  | 'time-out'
  | 'failed'

const REFUSALS: ReadonlySet<MediaErrorReason> = new Set([
  'empty',
  'playlist',
  'not-media',
  'truncated',
  'unreadable',
  'no-streams',
  'unsupported-codec',
  'too-large',
  'frame-rate',
  'too-long',
])

export class MediaError extends Error {
  override readonly name = 'MediaError'
  readonly reason: MediaErrorReason
  /** The last output of the tool, for the operator; never for the client. */
  readonly detail: string

  constructor(reason: MediaErrorReason, message: string, options: { detail?: string; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.reason = reason
    this.detail = options.detail ?? ''
  }
}

/** Object storage is unavailable: the state of the file is unknown, and a later retry may succeed. */
export class StorageOutage extends Error {
  override readonly name = 'StorageOutage'
}

/** True if the file itself is at fault, so that the job must not be retried. */
export const isRefusal = (error: unknown): error is MediaError => error instanceof MediaError && REFUSALS.has(error.reason)

/** The code of a Node system error (`ENOENT`, `ENOSPC`, ...), or undefined. Not by class: errors may cross realms. */
export function systemCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

export const messageOf = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'message' in error ? String(error.message) : String(error)

/** True if the error, or its cause, is a full disk or quota. */
export function isDiskFull(error: unknown): boolean {
  for (let at = error; typeof at === 'object' && at !== null; at = 'cause' in at ? at.cause : undefined) {
    if (at instanceof MediaError && at.reason === 'disk-full') return true
    if (FULL.has(systemCode(at) ?? '')) return true
  }
  return false
}

const FULL = new Set(['ENOSPC', 'EDQUOT'])
