// Why a download failed, with a message for the user: without internal addresses and paths.

import { FetchError } from '../../platform/fetch/index.ts'
import { MediaError, systemCode } from '../errors.ts'

/**
 * - `unusable`: no usable video at the address. - `refused`: the server does not contact this address. - `too-large`, `time-out`,
 * `disk-full`: as named. - `no-program`: yt-dlp is required and missing. - `failed`: the other side or the program failed.
 */
export type DownloadFailure = 'unusable' | 'refused' | 'too-large' | 'time-out' | 'disk-full' | 'no-program' | 'failed'

export class DownloadError extends Error {
  override readonly name = 'DownloadError'
  readonly reason: DownloadFailure

  constructor(reason: DownloadFailure, message: string, options: { cause?: unknown } = {}) {
    super(message, options)
    this.reason = reason
  }
}

export const tooLarge = (cause?: unknown): DownloadError =>
  new DownloadError('too-large', 'The video is larger than what may be added.', { cause })

/** Converts errors of fetches and of the disk; returns others unchanged. */
export function asDownloadError(error: unknown): unknown {
  if (isDiskFull(error)) return diskFull(error)
  if (!(error instanceof FetchError)) return error
  switch (error.reason) {
    case 'refused-url':
    case 'refused-address':
    case 'redirect':
      return new DownloadError('refused', 'The server does not import from this address.', { cause: error })
    case 'too-large':
      return tooLarge(error)
    case 'timeout':
      return new DownloadError('time-out', 'The other server did not answer in time.', { cause: error })
    case 'aborted':
      return error
    default:
      return new DownloadError('failed', 'The other server cannot be reached, or broke off.', { cause: error })
  }
}

export const isDiskFull = (error: unknown): boolean =>
  (error instanceof MediaError && error.reason === 'disk-full') || ['ENOSPC', 'EDQUOT'].includes(systemCode(error) ?? '')

export const diskFull = (cause: unknown): DownloadError =>
  new DownloadError('disk-full', 'The server has no space left for this video.', { cause })
