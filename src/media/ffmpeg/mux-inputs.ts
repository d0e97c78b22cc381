// Inputs of a mux: a file on disk is read by its path, one in object storage is piped, so that its first bytes are available at once and it
// occupies no disk. A pipe cannot seek, so the index must precede the media; other files are fetched first.

import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { assertAwaited, type FileRef, type Store } from '../store/store.ts'
import type { MuxInput } from './mux.ts'

type MuxStore = Pick<Store, 'open' | 'placeOf' | 'withLocalPath'>

/**
 * The inputs are valid until `work` settles. The signal applies while they are opened; throws MediaError `not-found` for either, and
 * `aborted`.
 */
export async function withMuxInputs<T>(
  store: MuxStore,
  refs: { picture: FileRef; sound: FileRef },
  work: (inputs: { picture: MuxInput; sound: MuxInput }) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const withPicture = (picture: MuxInput) => withInput(store, refs.sound, async (sound) => await work({ picture, sound }), signal)
  return await withInput(store, refs.picture, withPicture, signal)
}

async function withInput<T>(store: MuxStore, ref: FileRef, work: (input: MuxInput) => Promise<T>, signal: AbortSignal): Promise<T> {
  if ((await store.placeOf(ref)) === 'object-storage') {
    // One that was moved to the disk meanwhile is read from there.
    const { stream } = await store.open(ref, undefined, signal)
    // The reader gets errors that occur before it begins.
    stream.on('error', () => undefined)
    try {
      const beginning = await beginningOf(stream).catch((error: unknown) => {
        assertAwaited(signal)
        throw error
      })
      assertAwaited(signal)
      if (isReadInOrder(beginning)) return await work(stream)
    } finally {
      stream.destroy()
    }
  }
  return await store.withLocalPath(ref, work, signal)
}

/** Bytes that contain what precedes the index, and its start. */
const BEGINNING = 4096

/** They stay in the stream. */
async function beginningOf(stream: Readable): Promise<Buffer> {
  for (;;) {
    const bytes: Buffer | null = stream.read(BEGINNING)
    if (bytes) {
      stream.unshift(bytes)
      return bytes
    }
    if (stream.readableEnded) return Buffer.alloc(0)
    await Promise.race(['readable', 'end'].map((event) => once(stream, event)))
  }
}

/** Boxes of ISO/IEC 14496-12 without positions of media. */
const BEFORE = new Set(['ftyp', 'free', 'skip', 'wide', 'uuid', 'pdin'])

/** True for an MP4 whose index precedes the media, as a ladder makes them. */
function isReadInOrder(bytes: Buffer): boolean {
  for (let at = 0; at + 8 <= bytes.length; ) {
    const [length, type] = [bytes.readUInt32BE(at), bytes.toString('latin1', at + 4, at + 8)]
    if (type === 'moov') return true
    // Lengths of 0 and 1 mean large boxes, which these never are.
    if (!BEFORE.has(type) || length < 8) return false
    at += length
  }
  return false
}
