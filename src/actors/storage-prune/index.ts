// Finds unreferenced files in the store, and rows whose file is missing: while a server is running, in batches, so that memory stays
// bounded. Excluded are cached remote files, which the keys of `cache` limit, and `tmp`, which the server clears itself and other programs
// may use too.

import { type FileKind, type FileRef, type FileStat, fileKinds, type Place, places, type Store } from '../../media/index.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Database } from '../../platform/database/index.ts'
import { eachRow } from '../runtime/index.ts'
import { findUnreferenced, isPrunable, namingRows, type PrunableKind } from './referenced.ts'

export interface PruneOptions {
  remove: boolean
  /** Ms since the file was last written. */
  olderThanMs: number
  onLook?: OnLook
}

/** Called with the number of files checked so far. */
export type OnLook = (looked: number) => void

/** The files of a kind in a place that has any. */
export interface PrunedKind {
  place: Place
  kind: FileKind
  /** All that are there. */
  files: number
  bytes: number
  /** Unreferenced files that are old enough. */
  unreferenced: number
  unreferencedBytes: number
  /** Younger unreferenced files, which another worker may be writing. */
  young: number
  removed: number
  examples: string[]
}

const PRUNED: readonly PrunableKind[] = fileKinds.filter(isPrunable)
const BATCH = 1000
const EXAMPLES = 5
/** Concurrent look-ups. */
const AT_ONCE = 8

export type StoragePrune = ReturnType<typeof makeStoragePrune>

export function makeStoragePrune(deps: { db: Pick<Database, 'query'>; store: Store; clock: Clock }) {
  const { db, store, clock } = deps

  async function pruneKind(place: Place, kind: PrunableKind, options: PruneOptions & { looked: (files: number) => void }) {
    const only = store.only(place, kind)
    const sums: PrunedKind = {
      place,
      kind,
      files: 0,
      bytes: 0,
      unreferenced: 0,
      unreferencedBytes: 0,
      young: 0,
      removed: 0,
      examples: [],
    }
    if (!only) return sums
    for await (const batch of batchesOf(only.list(kind))) {
      const unreferenced = await findUnreferenced(
        db.query,
        kind,
        batch.map(({ name }) => name),
      )
      for (const file of batch) {
        sums.files += 1
        sums.bytes += file.size
        if (!unreferenced.has(file.name)) continue
        if (clock.now().getTime() - file.modifiedAt.getTime() < options.olderThanMs) {
          sums.young += 1
          continue
        }
        sums.unreferenced += 1
        sums.unreferencedBytes += file.size
        if (sums.examples.length < EXAMPLES) sums.examples.push(file.name)
        if (options.remove && (await removeIfStill(only, kind, file))) sums.removed += 1
      }
      options.looked(batch.length)
    }
    return sums
  }

  /** The listing may be hours old. */
  async function removeIfStill(only: Store, kind: PrunableKind, { name, etag }: FileStat): Promise<boolean> {
    const ref: FileRef = { kind, name }
    const found = await only.stat(ref)
    if (!found || found.etag !== etag) return false
    if (!(await findUnreferenced(db.query, kind, [name])).has(name)) return false
    await only.remove(ref)
    return true
  }

  return {
    /** Looks for unreferenced files; with `remove`, removes those that are older than `olderThanMs`. */
    async pruneStorage(options: PruneOptions): Promise<PrunedKind[]> {
      let looked = 0
      const counted = (files: number) => {
        looked += files
        options.onLook?.(looked)
      }
      const pruned: PrunedKind[] = []
      for (const place of places) {
        for (const kind of PRUNED) pruned.push(await pruneKind(place, kind, { ...options, looked: counted }))
      }
      return pruned.filter(({ files }) => files > 0)
    },

    /** Files that rows name and that are in no place: some examples, and their number. */
    async findMissingFiles({ examples: most, onLook }: { examples: number; onLook?: OnLook }) {
      const examples: FileRef[] = []
      let [count, looked] = [0, 0]
      const look = async (names: FileRef[]): Promise<void> => {
        for (const ref of names) if (await store.stat(ref)) return
        count += 1
        const [first] = names
        if (first && examples.length < most) examples.push(first)
      }
      for (const { from, columns, refsOf } of namingRows) {
        let waiting: FileRef[][] = []
        const flush = async () => {
          const now = waiting
          waiting = []
          await Promise.all(now.map(look))
          looked += now.length
          onLook?.(looked)
        }
        const walk = { db, signal: new AbortController().signal, from, columns, values: [] }
        await eachRow<{ id: number }>(walk, async (row) => {
          waiting.push(...refsOf(row as Record<string, unknown> & { id: number }))
          if (waiting.length >= AT_ONCE) await flush()
        })
        await flush()
      }
      return { count, examples }
    },
  }
}

async function* batchesOf(files: AsyncIterable<FileStat>): AsyncGenerator<FileStat[]> {
  let batch: FileStat[] = []
  for await (const file of files) {
    batch.push(file)
    if (batch.length < BATCH) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}
