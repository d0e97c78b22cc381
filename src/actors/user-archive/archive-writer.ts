// The archive as the writers of its parts see it: documents and files at the paths of the contract.

import { Readable } from 'node:stream'
import { type FileRef, MediaError, type OpenedFile, type Store, type ZipWriter } from '../../media/index.ts'
import type { ArchivedDocument } from './archive-documents.ts'

export type Items<T> = AsyncIterable<T> | Iterable<T>

export interface ArchiveWriter {
  /** The document of a part; one without a list contains its only item. */
  part(part: { name: string; list: string | null }, items: Items<unknown>): Promise<void>
  /** A document of `activity-pub/`. */
  document(name: string, document: ArchivedDocument): Promise<void>
  /** The same for an ordered collection. */
  collection(name: string, frame: ArchivedDocument, items: AsyncIterable<unknown>): Promise<void>
  /** The first of `refs` that exists in the store. Returns its path, as documents name it, and its size in bytes; null if none exists. */
  file(name: string, refs: readonly FileRef[]): Promise<{ path: string; size: number } | null>
  /** A file that is generated while it is written, of unknown size. */
  made(name: string, stream: Readable): Promise<{ path: string }>
}

export function makeArchiveWriter({ zip, store }: { zip: ZipWriter; store: Pick<Store, 'open'> }): ArchiveWriter {
  const json = (path: string, pieces: AsyncIterable<string> | Iterable<string>): Promise<void> =>
    zip.add(path, Readable.from(pieces, { objectMode: false }), { compress: true })

  async function openFirst(refs: readonly FileRef[]): Promise<OpenedFile | undefined> {
    for (const ref of refs) {
      try {
        return await store.open(ref)
      } catch (error) {
        if (!(error instanceof MediaError) || error.reason !== 'not-found') throw error
      }
    }
    return undefined
  }

  return {
    part: ({ name, list }, items) => json(partPath(name), list === null ? single(items) : listed(list, items)),
    document: (name, document) => json(`activity-pub/${name}.json`, [text(document)]),
    collection: (name, frame, items) => json(`activity-pub/${name}.json`, collected(frame, items)),

    async file(name, refs) {
      const opened = await openFirst(refs)
      if (!opened) return null
      const { size } = opened.stat
      await zip.add(name, opened.stream, { size, compress: isText(name) })
      return { path: `../${name}`, size }
    },

    async made(name, stream) {
      await zip.add(name, stream, { compress: isText(name) })
      return { path: `../${name}` }
    },
  }
}

/** The path of a part's document in the archive. */
export const partPath = (name: string): string => `peertube/${name}.json`

/** Other files are already compressed. */
const isText = (name: string): boolean => name.endsWith('.vtt')

const text = (value: unknown): string => JSON.stringify(value, null, 2)

async function* single(items: Items<unknown>): AsyncGenerator<string> {
  for await (const item of items) yield text(item)
}

async function* listed(key: string, items: Items<unknown>): AsyncGenerator<string> {
  yield `{\n${JSON.stringify(key)}: [`
  yield* separated(items)
  yield ']\n}\n'
}

/** Their number is known at the end. */
async function* collected(frame: ArchivedDocument, items: AsyncIterable<unknown>): AsyncGenerator<string> {
  const fields = Object.entries(frame).map(([name, value]) => `${JSON.stringify(name)}: ${text(value)},\n`)
  yield `{\n${fields.join('')}"orderedItems": [`
  const total = yield* separated(items)
  yield `],\n"totalItems": ${total}\n}\n`
}

async function* separated(items: Items<unknown>): AsyncGenerator<string, number> {
  let count = 0
  for await (const item of items) {
    yield `${count === 0 ? '\n' : ',\n'}${text(item)}`
    count += 1
  }
  if (count > 0) yield '\n'
  return count
}
