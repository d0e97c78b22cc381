// Downloads of separate picture and sound files: muxed while they are sent, a few at a time.

import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { DomainError, notFound } from '../../actors/runtime/index.ts'
import type { Config } from '../../config/index.ts'
import { type Ffmpeg, type FileRef, MediaError, type MuxInput, muxStreams, type Store, withMuxInputs } from '../../media/index.ts'
import type { Logger } from '../../platform/logger.ts'

/**
 * The bytes of the MP4, once the first ones are available. The signal aborts when the client leaves. Throws `busy` if too many others are
 * being muxed, and `unprocessable` for files that cannot be muxed into an MP4.
 */
export type OpenMux = (files: { picture: FileRef; sound: FileRef }, signal: AbortSignal) => Promise<Readable>

/** Seconds. */
const RETRY_AFTER = '10'

export function makeMuxes(deps: {
  store: Pick<Store, 'open' | 'placeOf' | 'withLocalPath'>
  ffmpeg: Ffmpeg
  config: () => Config
  logger: Logger
}): OpenMux {
  const { store, ffmpeg, config, logger } = deps
  let running = 0

  return async (files, signal) => {
    const { delivery, media } = config().vireo
    if (running >= delivery.muxes) {
      throw new DomainError('busy', 'Too many downloads are being prepared, please try again later.', {
        headers: { 'retry-after': RETRY_AFTER },
      })
    }
    running += 1
    const opened = Promise.withResolvers<Readable>()
    // The inputs are valid as long as this runs, which is until the process is gone.
    const send = async (inputs: { picture: MuxInput; sound: MuxInput }): Promise<void> => {
      if (signal.aborted) throw left()
      const limits = { stallMs: media.stall_timeout, niceness: media.nice }
      const { stream, gone } = muxStreams({ ffmpeg, ...inputs, ...limits })
      const leave = (): void => void stream.destroy()
      signal.addEventListener('abort', leave)
      stream.on('error', (error) => logger.info({ err: error }, 'a download was cut off'))
      await begun(stream).then(opened.resolve, opened.reject)
      await gone
      signal.removeEventListener('abort', leave)
    }
    const work = withMuxInputs(store, files, send, signal)
    work.catch(opened.reject).finally(() => {
      running -= 1
    })
    const stream = await opened.promise.catch((error: unknown) => {
      throw refusalOf(error)
    })
    if (signal.aborted) throw left()
    return stream
  }
}

/** Resolves with the first bytes: before them, a failure can still be reported. */
async function begun(stream: Readable): Promise<Readable> {
  await Promise.race([once(stream, 'readable'), once(stream, 'close')])
  return stream
}

/** The client is gone. */
const left = (): DomainError => new DomainError('unavailable', 'The download was given up.')

function refusalOf(error: unknown): unknown {
  if (!(error instanceof MediaError)) return error
  if (error.reason === 'aborted') return left()
  if (error.reason === 'not-found') return notFound('File not found')
  if (error.reason === 'failed') return new DomainError('unprocessable', error.message, { cause: error })
  return error
}
