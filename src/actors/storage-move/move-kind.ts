// The same jobs for a whole kind of files whose rows do not contain their place: pictures, captions, torrents, copies. They are looked up
// in both places anyway.

import { copyVerified, type FileKind, type FileRef, type Store } from '../../media/index.ts'
import { otherPlace, type StorageMoveDeps } from './move-video.ts'
import { makeSpareCopies } from './spare-copies.ts'

/** Uploads in progress end where they began. */
export const kindsOfTheirOwn = [
  ...(['thumbnails', 'previews', 'avatars', 'captions', 'storyboards', 'torrents', 'redundancy'] as const),
  'user_exports',
] satisfies FileKind[]

export const isKindOfItsOwn = (kind: unknown): kind is (typeof kindsOfTheirOwn)[number] => kindsOfTheirOwn.some((one) => one === kind)

export type MoveKind = (kind: (typeof kindsOfTheirOwn)[number], target: StorageMoveDeps['preferred'], signal: AbortSignal) => Promise<void>

export function makeMoveKind(deps: StorageMoveDeps): MoveKind {
  const { db, store, preferred, clock } = deps
  const spares = makeSpareCopies(deps)

  return async (kind, target, signal) => {
    const [from, to] = [store.only(otherPlace(target), kind), store.only(target, kind)]
    if (!from || !to || preferred !== target) return

    /** A file that was removed while it was copied must not come back. */
    async function keepUnlessGone(ref: FileRef, source: Store, copy: Store): Promise<void> {
      if (!(await source.stat(ref))) await copy.remove(ref)
      await spares.keep(db.query, target, [ref])
      await source.remove(ref)
    }

    // May be incomplete or different.
    for (const ref of await spares.listOf(kind, target)) {
      await to.remove(ref)
      await spares.keep(db.query, target, [ref])
    }
    const names: string[] = []
    for await (const { name } of from.list(kind)) names.push(name)
    for (const name of names) {
      const ref: FileRef = { kind, name }
      signal.throwIfAborted()
      // A file stored meanwhile under the same name is newer than this one.
      if (!(await to.stat(ref))) {
        await spares.note(db.query, { place: target, videoId: null, now: clock.now() }, [ref])
        await copyVerified({ from, to, ref, signal })
      }
      await keepUnlessGone(ref, from, to)
    }
  }
}
