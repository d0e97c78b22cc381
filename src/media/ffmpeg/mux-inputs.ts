// What a mux reads of stored files: one on the disk by its path, one in object storage as it comes, so that its first bytes are there
// at once and it takes no room here. A pipe cannot go back, so that what a file needs to be read has to stand before its bytes; one
// where it does not is fetched first.

import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { assertAwaited, type FileRef, type Store } from '../store/store.ts'
import type { MuxInput } from './mux.ts'

type MuxStore = Pick<Store, 'open' | 'placeOf' | 'withLocalPath'>

/**
 * The inputs are valid only until `work` settles. The signal is for the way there; throws MediaError `not-found` for the one or the
 * other, and `aborted`.
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
    // What goes wrong before somebody reads is seen by whoever does.
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

/** Bytes that hold what stands before the index, and where it begins. */
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

/** Boxes of ISO/IEC 14496-12 that say nothing of where the media are. */
const BEFORE = new Set(['ftyp', 'free', 'skip', 'wide', 'uuid', 'pdin'])

/** Whether they are those of an MP4 whose index comes before the media, as a ladder makes them. */
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
