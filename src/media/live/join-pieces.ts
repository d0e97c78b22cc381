// Joins the pieces of a live into one MP4, without encoding.

import { createWriteStream } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { MediaError } from '../errors.ts'
import type { Ffmpeg } from '../ffmpeg/find.ts'
import { inputGuard } from '../ffmpeg/guard.ts'
import { type RunLimits, runFfmpeg } from '../ffmpeg/run.ts'
import type { FileRef, Store } from '../store/store.ts'

type Places = readonly FileRef[]

export interface JoinPiecesOptions {
  ffmpeg: Ffmpeg
  store: Pick<Store, 'open'>
  /** The pieces of each connection, in order: timestamps begin again with each. A piece is in one of its places, and may be moved meanwhile. */
  generations: readonly (readonly Places[])[]
  /** Exists, and is the caller's own. */
  folder: string
  limits: RunLimits
  niceness?: number
  signal?: AbortSignal | undefined
}

/** Returns the path of the MP4, in the folder. Throws MediaError like `runFfmpeg`. */
export async function joinPieces({ ffmpeg, store, generations, folder, limits, niceness = 0, signal }: JoinPiecesOptions): Promise<string> {
  const names: string[] = []
  for (const [index, refs] of generations.entries()) {
    const name = `generation-${index}.ts`
    await pipeline(bytesOf(store, refs, signal), createWriteStream(join(folder, name)), { signal })
    names.push(name)
  }
  const list = join(folder, 'generations.txt')
  await writeFile(list, ['ffconcat version 1.0', ...names.map((name) => `file ${name}`), ''].join('\n'))
  const target = join(folder, 'recording.mp4')
  await runFfmpeg({
    ffmpeg,
    limits,
    niceness,
    signal,
    duration: 0,
    spec: {
      inputs: [{ source: list, options: ['-f', 'concat', ...inputGuard('file', ['concat'])] }],
      filter: undefined,
      threads: 0,
      outputs: [{ target, options: [...STREAMS, '-c', 'copy', '-movflags', '+faststart', '-f', 'mp4'] }],
    },
  })
  return target
}

const STREAMS = ['-map', '0:v:0?', '-map', '0:a:0?']

async function* bytesOf(store: Pick<Store, 'open'>, pieces: readonly Places[], signal: AbortSignal | undefined): AsyncGenerator<Buffer> {
  for (const places of pieces) {
    // A move back is noticed by a second look.
    for (const place of [...places, ...places]) {
      const opened: { stream: Readable } | undefined = await store.open(place, undefined, signal).catch((error: unknown) => {
        // One that the store has lost costs its seconds, not the recording.
        if (error instanceof MediaError && error.reason === 'not-found') return undefined
        throw error
      })
      if (!opened) continue
      yield* opened.stream
      break
    }
  }
}
