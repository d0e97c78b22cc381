// Parts of a video that change together with its files: pictures taken from them, and captions and chapters whose times shift in the new
// file. They wait until the first new file exists.

import type { FileRef, Retiming } from '../../../media/index.ts'
import { deleteRetimedCaptions } from '../../caption/caption.writes.ts'
import { moveChapters } from '../../chapter/index.ts'
import type { Unit } from '../../runtime/index.ts'
import { thumbnailTypes } from '../video.entity.ts'
import type { FileDraft } from './inspect-file.ts'
import { queuePictures } from './queue-pictures.ts'

/** A caption with shifted times. It replaces the one with the file `replaces`. */
export interface RetimedCaption {
  filename: string
  replaces: string
}

/** How the times of an edited file differ from the previous file. */
export interface Retimed {
  retiming: Retiming
  captions: readonly RetimedCaption[]
}

/**
 * Runs in the transaction that gives the video another source. Stores the parts that change with its files, and replaces those that were
 * pending for an earlier source. Pictures that a user chose stay. The caller has settled the files of the drafts.
 */
export async function storePendingParts(
  unit: Unit,
  videoId: number,
  { pictures }: Pick<FileDraft, 'pictures'>,
  retimed: Retimed | undefined,
): Promise<void> {
  await unit.query('delete from video_coming_file where video_id = $1', [videoId])
  await unit.query('delete from video_retiming where video_id = $1', [videoId])
  const files = [
    ...pictures.map(({ ref, image }) => ({
      kind: ref.kind,
      filename: ref.name,
      width: image.width,
      height: image.height,
      replaces: null,
    })),
    ...(retimed?.captions ?? []).map((caption) => ({ ...caption, kind: 'captions', width: null, height: null })),
  ]
  if (files.length > 0) {
    await unit.query(
      `insert into video_coming_file (video_id, kind, filename, width, height, replaces)
       select $1, f.kind, f.filename, f.width, f.height, f.replaces from jsonb_to_recordset($2)
         as f(kind text, filename text, width integer, height integer, replaces text)`,
      [videoId, JSON.stringify(files)],
    )
  }
  if (!retimed) return
  const { from, to, at } = retimed.retiming
  await unit.query('insert into video_retiming (video_id, from_at, to_at, moved_to) values ($1, $2, $3, $4)', [videoId, from, to, at])
}

/** How the current video maps to the pending file, if that is an edited one. */
export async function pendingRetiming({ query }: Pick<Unit, 'query'>, videoId: number): Promise<Retiming | undefined> {
  const [row] = await query<Retiming>('select from_at as "from", to_at as "to", moved_to as at from video_retiming where video_id = $1', [
    videoId,
  ])
  return row
}

/** Runs in the transaction in which the first new file replaces the old ones. Applies the pending parts. */
export async function applyPendingParts(unit: Unit, videoId: number): Promise<void> {
  const waiting = await unit.query('select 1 from video_coming_file where video_id = $1 limit 1', [videoId])
  if (waiting.length > 0) {
    const pictures = await takePictures(unit, videoId)
    if (pictures.length > 0) queuePictures(unit, videoId)
    const taken = [...pictures, ...(await deleteRetimedCaptions(unit, videoId))]
    await unit.query('delete from video_coming_file where video_id = $1', [videoId])
    await unit.query(
      'delete from pending_file p using jsonb_to_recordset($1) as f(kind text, name text) where p.kind = f.kind and p.name = f.name',
      [JSON.stringify(taken)],
    )
  }
  const retiming = await pendingRetiming(unit, videoId)
  if (!retiming) return
  await moveChapters(unit, videoId, retiming)
  await unit.query('delete from video_retiming where video_id = $1', [videoId])
}

/** Keeps pictures that a user chose. The others get their new names now and are drawn from the new files. */
const takePictures = (unit: Unit, videoId: number): Promise<FileRef[]> =>
  unit.query<FileRef>(
    `insert into thumbnail (video_id, type, filename, width, height, on_disk, automatically_generated, created_at)
     select f.video_id, case f.kind when 'previews' then ${thumbnailTypes.preview} else ${thumbnailTypes.miniature} end,
       f.filename, f.width, f.height, false, true, $2
     from video_coming_file f where f.video_id = $1 and f.kind in ('thumbnails', 'previews')
     on conflict (video_id, type) do update set filename = excluded.filename, width = excluded.width,
       height = excluded.height, file_url = null, on_disk = false
     where thumbnail.automatically_generated
     returning case type when ${thumbnailTypes.preview} then 'previews' else 'thumbnails' end as kind, filename as name`,
    [videoId, unit.now],
  )
