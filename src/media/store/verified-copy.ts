// Copies a file from one place to the other, and verifies the copy. The source stays.

import { createHash, type Hash } from 'node:crypto'
import { addAbortSignal, PassThrough, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { MediaError } from '../errors.ts'
import type { FileRef, Store } from './store.ts'

type Readable = Pick<Store, 'open' | 'stat'>

export interface Carry {
  from: Readable
  to: Readable & Pick<Store, 'put' | 'remove'>
  ref: FileRef
  signal: AbortSignal
}

/**
 * Returns `missing` if the file is in neither place. Idempotent: an existing copy is compared, and written again only if it differs. Throws
 * MediaError `truncated` if the copy differs from the source.
 */
export async function copyVerified({ from, to, ref, signal }: Carry): Promise<'carried' | 'there' | 'missing'> {
  const [source, target] = [await from.stat(ref), await to.stat(ref)]
  if (!source) return target ? 'there' : 'missing'
  if (target?.size === source.size && (await sumOf(to, ref, signal)) === (await sumOf(from, ref, signal))) return 'there'
  signal.throwIfAborted()
  const { stream } = await from.open(ref)
  const hash = createHash('sha256')
  const through = addAbortSignal(signal, hashing(hash))
  stream.on('error', (error) => through.destroy(error))
  try {
    await to.put(ref, stream.pipe(through))
  } finally {
    stream.destroy()
  }
  const sum = hash.digest('hex')
  if ((await to.stat(ref))?.size === source.size && (await sumOf(to, ref, signal)) === sum) return 'carried'
  await to.remove(ref)
  throw new MediaError('truncated', 'The copy of a file is not the same as the file.')
}

const hashing = (hash: Hash): Transform =>
  new Transform({
    transform(chunk, _encoding, done) {
      hash.update(chunk)
      done(null, chunk)
    },
  })

async function sumOf(store: Readable, ref: FileRef, signal: AbortSignal): Promise<string> {
  const { stream } = await store.open(ref)
  const hash = createHash('sha256')
  await pipeline(stream, hashing(hash), new PassThrough().resume(), { signal })
  return hash.digest('hex')
}
