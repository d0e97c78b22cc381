// How many files of other servers stay on the disk: those that nobody asked for for longest go first.

import type { FileKind, FileRef, Store } from '../../media/index.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Logger } from '../../platform/logger.ts'
import { makeLru } from '../../platform/lru.ts'

export interface KeptFiles {
  /** Notes that a file was asked for. */
  used(ref: FileRef): void
  /** Notes that a file came, and removes others when there are too many. */
  added(ref: FileRef): void
  /** Removes some, as the disk is full. False when there is nothing to remove. */
  makeRoom(kind: FileKind): Promise<boolean>
}

/** Reads that are remembered; of others counts when they came, as after a restart. */
const REMEMBERED = 50_000
/** More than this share goes at once, so that the folder is not read for each file that comes. */
const SPARE = 0.05

export function makeKeptFiles(deps: {
  store: Pick<Store, 'list' | 'remove'>
  /** Files of a kind that stay, at least one. */
  most: (kind: FileKind) => number
  clock: Clock
  logger: Logger
}): KeptFiles {
  const { store, clock, logger } = deps
  const uses = makeLru<string, number>(REMEMBERED)
  /** Of each kind as far as this process knows; those that others bring are seen when the folder is read. */
  const counts = new Map<FileKind, number>()
  const trimming = new Set<FileKind>()

  const keyOf = ({ kind, name }: FileRef): string => `${kind}/${name}`
  const used = (ref: FileRef): void => void uses.set(keyOf(ref), clock.now().getTime())

  /** Those that nobody asked for for longest; `excess` of so many that there are. Answers how many went. */
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
    added(ref) {
      used(ref)
      const { kind } = ref
      const most = Math.max(1, deps.most(kind))
      const count = (counts.get(kind) ?? most) + 1
      counts.set(kind, count)
      if (count <= most || trimming.has(kind)) return
      trimming.add(kind)
      trim(kind, most)
        .catch((error: unknown) => logger.warn({ err: error, kind }, 'kept files of other servers cannot be removed'))
        .finally(() => trimming.delete(kind))
    },
    makeRoom: async (kind) => (await removeOldest(kind, (count) => Math.ceil(count * SPARE))) > 0,
  }
}
