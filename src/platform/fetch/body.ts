// The body of a response: decoded, and limited in size.

import type { Readable } from 'node:stream'
import { pipeline, Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { FetchError } from './errors.ts'

/** Requested encodings; no other is decoded. */
export const ACCEPTED_ENCODINGS = 'gzip, deflate, br'

/**
 * The decoded body. `maxBytes` limits both the bytes on the wire and the decoded ones, so a small response that unpacks to gigabytes ends
 * at the limit.
 */
export function decodedBody(options: { body: Readable; encoding: string | undefined; maxBytes: number; url: string }): Readable {
  const { body, maxBytes, url } = options
  const decoders = (options.encoding ?? '')
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '' && name !== 'identity')
    .reverse()
    .map((name) => decoderOf(name, url))
  if (decoders.length > 1) throw new FetchError('protocol', url, { message: 'encoded more than once' })
  const steps = decoders.length ? [cap(maxBytes, url), ...decoders, cap(maxBytes, url)] : [cap(maxBytes, url)]
  const last = steps.at(-1)
  if (!last) return body
  // An error of any step destroys all of them; the reader of the last one sees it.
  pipeline([body, ...steps], () => {})
  return last
}

function decoderOf(name: string, url: string): Transform {
  if (name === 'gzip' || name === 'x-gzip') return createGunzip()
  if (name === 'deflate') return createInflate()
  if (name === 'br') return createBrotliDecompress()
  throw new FetchError('protocol', url, { message: `unknown content encoding ${name.slice(0, 20)}` })
}

function cap(maxBytes: number, url: string): Transform {
  let seen = 0
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      seen += chunk.length
      if (seen > maxBytes) done(new FetchError('too-large', url, { message: `more than ${maxBytes} bytes` }))
      else done(null, chunk)
    },
  })
}
