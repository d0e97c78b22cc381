// Redundant copies: those being made, until the rows name them; and those that were moved away from. They are noted before they are
// written, or in the transaction that makes them redundant, so that none is left behind.

import type { FileKind, FileRef, Place, Store } from '../../media/index.ts'
import type { Columns, Database, Sql } from '../../platform/database/index.ts'
import { DomainError } from '../runtime/index.ts'
import { storageIn } from '../video/index.ts'
import type { SpareCopy } from './storage-move.entity.ts'

/** How often files are removed that reappear. */
const ROUNDS = 5
const VALUES = 'jsonb_to_recordset($1) as f(kind text, name text)'

export function makeSpareCopies({ db, store }: { db: Pick<Database, 'query'>; store: Store }) {
  const json = (files: readonly FileRef[]): string => JSON.stringify(files.map(({ kind, name }) => ({ kind, name })))

  return {
    /** For a video, or for none. */
    async note(query: Sql, { place, videoId, now }: { place: Place; videoId: number | null; now: Date }, files: readonly FileRef[]) {
      if (files.length === 0) return
      await query(
        `insert into spare_copy (kind, name, place, video_id, created_at) select f.kind, f.name, $2, $3, $4 from ${VALUES}
         on conflict (kind, name, place) do update set video_id = excluded.video_id`,
        [json(files), storageIn(place), videoId, now],
      )
    },

    /** True if it is being made; a file without a note is stored permanently. */
    async isNoted(place: Place, { kind, name }: FileRef): Promise<boolean> {
      const values = [kind, name, storageIn(place)]
      return (await db.query('select 1 from spare_copy where kind = $1 and name = $2 and place = $3', values)).length > 0
    },

    /** Keeps them: deletes their notes. */
    async keep(query: Sql, place: Place, files: readonly FileRef[]): Promise<void> {
      if (files.length === 0) return
      await query(`delete from spare_copy s using ${VALUES} where s.kind = f.kind and s.name = f.name and s.place = $2`, [
        json(files),
        storageIn(place),
      ])
    },

    /** Removes the noted copies of the video. Idempotent. */
    async remove(videoId: number): Promise<void> {
      const spares = await db.query<Columns<typeof SpareCopy, 'id' | 'name' | 'place'> & { kind: FileKind }>(
        'select id, kind, name, place from spare_copy where video_id = $1 order by id',
        [videoId],
      )
      const homeOf = ({ kind, place }: (typeof spares)[number]) => store.only(place === 1 ? 'object-storage' : 'file-system', kind)
      let left = spares
      for (let round = 1; left.length > 0; round += 1) {
        for (const spare of left) await homeOf(spare)?.remove(spare)
        // A file that was moved between its names meanwhile may be under the one that was checked first.
        const found = []
        for (const spare of spares) if (await homeOf(spare)?.stat(spare)) found.push(spare)
        if (round === ROUNDS && found.length > 0) throw new DomainError('busy', 'Files are moved while they are removed.')
        left = found
      }
      await db.query('delete from spare_copy where id = any($1)', [spares.map(({ id }) => id)])
    },

    /** Copies of a kind being made, without a video. */
    listOf(kind: FileKind, place: Place): Promise<FileRef[]> {
      return db.query<FileRef>('select kind, name from spare_copy where kind = $1 and place = $2 and video_id is null', [
        kind,
        storageIn(place),
      ])
    },
  }
}
