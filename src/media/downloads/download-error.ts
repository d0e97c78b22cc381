// Why a video could not be downloaded, in words that its user may read: never an address of the inside, never a path.

import { FetchError } from '../../platform/fetch/index.ts'
import { MediaError, systemCode } from '../errors.ts'

/**
 * - `unusable`: there is no video at the address, or one that cannot be taken.
 * - `refused`: the server does not go to this address.
 * - `too-large`, `time-out`, `disk-full`: as they say.
 * - `no-program`: it takes yt-dlp, which is not there.
 * - `failed`: the other side failed, or the program did.
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

/** The typed form of what a fetch or the disk threw; other errors stay what they are. */
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
