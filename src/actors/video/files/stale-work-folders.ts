// Removes work folders of this machine whose work ended on another one. The note of a work folder is deleted on the machine where the work
// ends, with that machine's folder only; an attempt that waited for storage or lost its lease may have left one here.

import type { Store } from '../../../media/index.ts'
import type { ActorDeps } from '../../runtime/index.ts'
import { isWorkFolder } from './work-folders.ts'

const LOOK_EVERY = 600_000

/** Removes folders without a note, beginning at the start of the server. */
export function removeStaleWorkFolders({ db, registry, store }: Pick<ActorDeps, 'db' | 'registry'> & { store: Store }): void {
  registry.periodic('work-folders', {
    everyMs: () => LOOK_EVERY,
    everywhere: true,
    async run() {
      const folders = (await store.workFolders()).filter(isWorkFolder)
      if (folders.length === 0) return
      const noted = await db.query<{ name: string }>("select name from pending_file where kind = 'tmp' and name = any($1)", [folders])
      const wanted = new Set(noted.map(({ name }) => name))
      const old = folders.filter((name) => !wanted.has(name))
      const outcomes = await Promise.allSettled(old.map((name) => store.removeWorkFolder(name)))
      for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
    },
  })
}
