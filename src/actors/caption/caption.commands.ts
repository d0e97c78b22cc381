// The captions of a local video: one file for each language, set and taken away by its owner.

import type { FileRef, Store } from '../../media/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { newUuid } from '../../platform/ids.ts'
import { notFound, type Unit } from '../runtime/index.ts'
import type { ChangeParts, Leases, PendingFiles, Viewer } from '../video/index.ts'

/** A text on its way into the store, which no row names yet. */
export interface PlacedCaption {
  language: string
  /** Made by a machine. */
  isAutomatic: boolean
  ref: FileRef
}

export interface Captions {
  /** Where a text in this language is going to lie. */
  begin(language: string, options?: { isAutomatic?: boolean }): PlacedCaption
  /** Puts the text (WebVTT) into the store, for `insert`. */
  place(begun: PlacedCaption, vtt: string): Promise<void>
  /** In the transaction that holds the video: the text is that of its language from now on. */
  insert(unit: Unit, videoId: number, placed: PlacedCaption): Promise<void>
  /** Puts this text (WebVTT) in the place of the one before. Throws `not_found` and `forbidden` as a change of the video. */
  set(videoId: number, by: NonNullable<Viewer>, caption: { language: string; vtt: string }): Promise<void>
  /** Throws `not_found` also when there is no caption in this language. */
  remove(videoId: number, by: NonNullable<Viewer>, language: string): Promise<void>
}

export function makeCaptions(deps: {
  db: Pick<Database, 'query'>
  changeParts: ChangeParts
  store: Store
  pendingFiles: PendingFiles
  leases: Pick<Leases, 'owner'>
}): Captions {
  const { db, changeParts, store, pendingFiles, leases } = deps

  async function place({ ref }: PlacedCaption, vtt: string): Promise<void> {
    await pendingFiles.reserve(leases.owner, [ref])
    await store.put(ref, Buffer.from(vtt))
  }

  async function insert(unit: Unit, videoId: number, { language, isAutomatic, ref }: PlacedCaption): Promise<void> {
    // The file before is pending from now on, by a trigger of the table.
    await unit.query('delete from video_caption where video_id = $1 and language = $2', [videoId, language])
    await unit.query(
      `insert into video_caption (video_id, language, filename, automatically_generated, created_at, updated_at)
       values ($1, $2, $3, $4, $5, $5)`,
      [videoId, language, ref.name, isAutomatic, unit.now],
    )
    await pendingFiles.settle(unit.query, [ref])
  }

  return {
    begin,
    place,
    insert,

    async set(videoId, by, { language, vtt }) {
      const begun = begin(language)
      const { ref } = begun
      try {
        await place(begun, vtt)
        await changeParts(videoId, by, (unit) => insert(unit, videoId, begun))
      } catch (error) {
        // The transaction may have been committed although its answer was lost.
        const stored = await db.query('select 1 from video_caption where filename = $1', [ref.name])
        if (stored.length === 0) await pendingFiles.discard([ref])
        throw error
      }
    },

    remove: (videoId, by, language) =>
      changeParts(videoId, by, async (unit) => {
        const removed = await unit.query('delete from video_caption where video_id = $1 and language = $2 returning id', [
          videoId,
          language,
        ])
        if (removed.length === 0) throw notFound('Video caption not found')
      }),
  }
}

/** A new name each time, so that no cache shows the old text. */
const begin = (language: string, { isAutomatic = false } = {}): PlacedCaption => ({
  language,
  isAutomatic,
  ref: { kind: 'captions', name: `${newUuid()}-${language}.vtt` },
})
