// Work folders of transcodings that ended in other hands. The note of a folder goes with the transcoding, on whichever machine that
// is; a try that waited for storage, or lost its lease, may have been on another one.

import type { Store } from '../../media/index.ts'
import type { Database } from '../../platform/database/index.ts'

const FOLDER = /^(transcoding-(\d+)(?:-source)?)\//

/** Removes those of this machine whose transcodings are over. */
export async function removeOldWork({ db, store }: { db: Database; store: Store }): Promise<void> {
  const folders = new Map<string, number>()
  for await (const { name } of store.list('tmp')) {
    const [, folder, id] = FOLDER.exec(name) ?? []
    if (folder !== undefined) folders.set(folder, Number(id))
  }
  if (folders.size === 0) return
  const active = await db.query<{ id: number }>(
    "select id from transcoding where id = any($1) and state in ('planned', 'running', 'packaged', 'stored')",
    [[...folders.values()]],
  )
  const wanted = new Set(active.map(({ id }) => id))
  for (const [folder, id] of folders) if (!wanted.has(id)) await store.removeWorkFolder(folder)
}
