// Limits the number of cached remote files: the least recently requested are removed first.

import type { FileKind, FileRef, Store } from '../../media/index.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Logger } from '../../platform/logger.ts'
import { makeLru } from '../../platform/lru.ts'

export type CacheLimit = ReturnType<typeof makeCacheLimit>

/** Requests that are recorded; other files count from their arrival, as after a restart. */
const REMEMBERED = 50_000
/** Removes this share in addition, so that the folder is not listed for each new file. */
const SPARE = 0.05

export function makeCacheLimit(deps: {
  store: Pick<Store, 'list' | 'remove'>
  /** Maximum files of a kind, at least one. */
  most: (kind: FileKind) => number
  clock: Clock
  logger: Logger
}) {
  const { store, clock, logger } = deps
  const uses = makeLru<string, number>(REMEMBERED)
  /** Per kind, as known to this process; files added by others are counted when the folder is listed. */
  const counts = new Map<FileKind, number>()
  const trimming = new Set<FileKind>()

  const keyOf = ({ kind, name }: FileRef): string => `${kind}/${name}`
  /** Records that a file was requested. */
  const used = (ref: FileRef): void => void uses.set(keyOf(ref), clock.now().getTime())

  /** Removes the least recently requested: `excess` of the total. Returns how many. */
  async function removeOldest(kind: FileKind, excess: (count: number) => number): Promise<number> {
    const files: { ref: FileRef; at: number }[] = []
    for await (const { name, modifiedAt } of store.list(kind)) {
      const ref = { kind, name }
      files.push({ ref, at: Math.max(uses.peek(keyOf(ref)) ?? 0, modifiedAt.getTime()) })
    }
    const gone = files.sort((a, b) => a.at - b.at).slice(0, excess(files.length))
    for (const { ref } of gone) {
      await store.remove(ref)
      uses.delete(keyOf(ref))
    }
    counts.set(kind, files.length - gone.length)
    return gone.length
  }

  const trim = (kind: FileKind, most: number): Promise<number> =>
    removeOldest(kind, (count) => (count > most ? count - most + Math.floor(most * SPARE) : 0))

  return {
    used,
    /** Records that a file was added, and removes others if there are too many. */
    added(ref: FileRef) {
      used(ref)
      const { kind } = ref
      const most = Math.max(1, deps.most(kind))
      const count = (counts.get(kind) ?? most) + 1
      counts.set(kind, count)
      if (count <= most || trimming.has(kind)) return
      trimming.add(kind)
      trim(kind, most)
        .catch((error: unknown) => logger.warn({ err: error, kind }, 'cached remote files could not be removed'))
        .finally(() => trimming.delete(kind))
    },
    /** Removes some if the disk is full. False if there is nothing to remove. */
    async makeRoom(kind: FileKind) {
      return (await removeOldest(kind, (count) => Math.ceil(count * SPARE))) > 0
    },
  }
}
