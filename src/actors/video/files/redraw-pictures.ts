// New thumbnails and previews of local videos, for operators who changed their sizes or lost files. Pictures that users uploaded are kept.

import { type FileRef, MediaError, type Store } from '../../../media/index.ts'
import type { Columns } from '../../../platform/database/index.ts'
import { removeSetting, saveSetting } from '../../instance/instance.writes.ts'
import { type ActorDeps, DomainError } from '../../runtime/index.ts'
import { announceChange } from '../publish-video.ts'
import { replacePicture } from '../update-video.ts'
import { type Thumbnail, Video } from '../video.entity.ts'
import type { DraftPicture, InspectFile, PictureName } from './inspect-file.ts'
import type { Leases, PendingFiles } from './pending-files.ts'
import { findPictureSource } from './picture-source.ts'

export interface RedrawOptions {
  videoIds?: readonly number[]
  /** Replaces pictures that users uploaded, too. */
  force: boolean
  onProgress: (done: number, total: number) => void
}

export interface Redrawn {
  redrawn: number
  /** Videos whose pictures were all uploaded by users, or that have no file to draw from. */
  skipped: number
  failed: { uuid: string; reason: string }[]
}

interface Drawable extends Columns<Video, 'id' | 'uuid'> {
  /** Types of the pictures that are not drawn. */
  given: number[]
}

const SETTING = 'redraw-pictures'
const TYPES: Record<PictureName, 1 | 2> = { thumbnail: 1, preview: 2 }

const WHICH = `from video v where not v.remote and v.state <> 'removed' and v.id > $1
  and ($2::integer[] is null or v.id = any($2))`

const DRAWABLE = `
  select v.id, v.uuid,
    array(select t.type::integer from thumbnail t where t.video_id = v.id and not t.automatically_generated) as given
  from video v where v.id = $1`

type Deps = ActorDeps & {
  store: Store
  inspectFile: InspectFile
  pendingFiles: PendingFiles
  leases: Pick<Leases, 'owner'>
}

export type RedrawPictures = ReturnType<typeof makeRedrawPictures>

export function makeRedrawPictures(deps: Deps) {
  const { db, tell, store, inspectFile, pendingFiles, leases } = deps

  async function redraw(video: Drawable, force: boolean): Promise<boolean> {
    const names = (['thumbnail', 'preview'] as const).filter((name) => force || !video.given.includes(TYPES[name]))
    if (names.length === 0) return false
    const source = await findPictureSource({ db, store }, video.id)
    if (!source) return false
    const drawn = await draw(names, source)
    const refs = drawn.map(({ ref }) => ref)
    await pendingFiles.reserve(leases.owner, refs)
    try {
      for (const { ref, image } of drawn) if (image.bytes) await store.put(ref, image.bytes)
      const replaced = await keep(video.id, drawn, force)
      await pendingFiles.discard(replaced)
      return true
    } catch (error) {
      const stored = await db.query<Columns<Thumbnail, 'filename'>>('select filename from thumbnail where filename = any($1)', [
        refs.map(({ name }) => name),
      ])
      await pendingFiles.discard(refs.filter(({ name }) => !stored.some(({ filename }) => filename === name)))
      throw error
    }
  }

  /** Returns the files that are no longer needed: the old pictures, or new ones if a user uploaded one meanwhile. */
  const keep = (videoId: number, drawn: readonly DraftPicture[], force: boolean): Promise<FileRef[]> =>
    tell({ aggregate: 'video', id: videoId }, async (unit) => {
      const video = await unit.em.findOneOrFail(Video, videoId)
      if (video.state === 'removed') throw new DomainError('not_found', 'Video not found')
      const given = await unit.query<{ type: number }>('select type from thumbnail where video_id = $1 and not automatically_generated', [
        videoId,
      ])
      const isGiven = (type: number) => !force && given.some((one) => one.type === type)
      const late = drawn.filter(({ type }) => isGiven(type)).map(({ ref }) => ref)
      const old: FileRef[] = []
      for (const { type, ref, image } of drawn) {
        if (!isGiven(type)) old.push(...(await replacePicture(unit, videoId, { type, ref, image, generated: true })))
      }
      await pendingFiles.settle(
        unit.query,
        drawn.map(({ ref }) => ref),
      )
      await pendingFiles.condemn(unit.query, [...old, ...late])
      announceChange(unit, video)
      return [...old, ...late]
    })

  async function draw(names: readonly PictureName[], source: FileRef): Promise<DraftPicture[]> {
    const planned = names.map(inspectFile.planPicture)
    const images = await inspectFile.draw(
      source,
      planned.map(({ image }) => image),
    )
    return planned.map((picture, index) => ({ ...picture, image: images[index] ?? picture.image }))
  }

  async function refuseUnknown(videoIds: readonly number[]): Promise<void> {
    const found = await db.query<Columns<Video, 'id'>>(`select v.id ${WHICH}`, [0, videoIds])
    const unknown = videoIds.filter((id) => !found.some((one) => one.id === id))
    if (unknown.length > 0) throw new DomainError('not_found', `Not a video of this server: ${unknown.join(', ')}.`)
  }

  async function begin(force: boolean): Promise<number> {
    const [left] = await db.query<{ value: { lastId: number; force: boolean } }>('select value from setting where key = $1', [SETTING])
    return left && left.value.force === force ? left.value.lastId : 0
  }

  return {
    /**
     * Processes one video after another. An interrupted run continues where it was when the same is requested again, unless `videoIds` are
     * given. Throws `not_found` for ids that are not local videos.
     */
    async redrawPictures({ videoIds, force, onProgress }: RedrawOptions): Promise<Redrawn> {
      const done: Redrawn = { redrawn: 0, skipped: 0, failed: [] }
      if (videoIds) await refuseUnknown(videoIds)
      let last = videoIds ? 0 : await begin(force)
      const values = (): unknown[] => [last, videoIds ?? null]
      const [{ total } = { total: 0 }] = await db.query<{ total: number }>(`select count(*) as total ${WHICH}`, values())
      for (let looked = 1; ; looked += 1) {
        const [next] = await db.query<Columns<Video, 'id'>>(`select v.id ${WHICH} order by v.id limit 1`, values())
        if (!next) break
        const [video] = await db.query<Drawable>(DRAWABLE, [next.id])
        if (video) {
          try {
            if (await redraw(video, force)) done.redrawn += 1
            else done.skipped += 1
          } catch (error) {
            if (!(error instanceof MediaError || error instanceof DomainError)) throw error
            done.failed.push({ uuid: video.uuid, reason: error.message })
          }
        }
        last = next.id
        if (!videoIds) await saveSetting(db.query, SETTING, { lastId: last, force })
        onProgress(looked, total)
      }
      if (!videoIds) await removeSetting(db.query, SETTING)
      return done
    },
  }
}
