// The job `video-pictures`: draws the pictures of a local video whose rows have a name and a size, but no file yet. It can be killed and
// run again; concurrent runs write the same file. A picture that cannot be drawn becomes a plain field, so that no row waits forever.

import { type EncodedImage, type FileRef, type ImageSize, isDiskFull, MediaError, plainImage, type Store } from '../../../media/index.ts'
import type { Columns } from '../../../platform/database/index.ts'
import { type ActorDeps, DomainError, NotNow, resumeJobs } from '../../runtime/index.ts'
import type { Thumbnail } from '../video.entity.ts'
import { type InspectFile, refOfPicture } from './inspect-file.ts'
import type { Leases, PendingFiles } from './pending-files.ts'
import { findPictureSource } from './picture-source.ts'
import { queuePictures } from './queue-pictures.ts'

type Awaited = ImageSize & Columns<Thumbnail, 'type' | 'filename'>

/** SQL: true if the picture `t` of a local video is not drawn yet. */
const IS_AWAITED = 't.file_url is null and not t.on_disk'

const AWAITED = `
  select t.type, t.filename, t.width, t.height from thumbnail t join video v on v.id = t.video_id
  where t.video_id = $1 and ${IS_AWAITED} and not v.remote and v.state <> 'removed' order by t.type`

/** How often the source may disappear during the job before the job fails. */
const TRIES = 3
const LOOK_EVERY_MS = 600_000
/** Videos that are queued again per run. */
const BATCH = 100

export type DrawPictures = ReturnType<typeof makeDrawPictures>

export function makeDrawPictures(
  deps: ActorDeps & {
    store: Store
    inspectFile: Pick<InspectFile, 'draw'>
    pendingFiles: PendingFiles
    leases: Pick<Leases, 'owner'>
  },
) {
  const { db, tell, registry, logger, store, inspectFile, pendingFiles, leases } = deps

  const awaitedOf = (videoId: number): Promise<Awaited[]> => db.query<Awaited>(AWAITED, [videoId])

  /** Draws the missing pictures. Does nothing if none is missing or the video is removed. */
  async function drawPictures(videoId: number, signal: AbortSignal): Promise<void> {
    const awaited = await awaitedOf(videoId)
    if (awaited.length > 0) await keep(videoId, awaited, await imagesOf(videoId, awaited, signal))
  }

  async function imagesOf(videoId: number, sizes: readonly ImageSize[], signal: AbortSignal, tries = 1): Promise<EncodedImage[]> {
    const source = await findPictureSource({ db, store }, videoId)
    if (!source) return await plainImages(sizes)
    try {
      return await inspectFile.draw(source, sizes, signal)
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof MediaError) || isDiskFull(error)) throw error
      if (error.reason === 'ffmpeg-missing') throw new NotNow('Pictures cannot be drawn without ffmpeg.', { cause: error })
      // Moved with the privacy, or replaced by its renditions.
      if (tries < TRIES && !(await store.stat(source))) return await imagesOf(videoId, sizes, signal, tries + 1)
      logger.warn({ err: error, video: videoId }, 'the pictures of a video cannot be drawn; it gets plain ones')
      return await plainImages(sizes)
    }
  }

  /** Writes the files, then marks the rows. Removes files that the video no longer names: a user may have replaced a picture meanwhile. */
  async function keep(videoId: number, awaited: readonly Awaited[], images: readonly EncodedImage[]): Promise<void> {
    const refs = awaited.map(refOfPicture)
    await pendingFiles.reserve(leases.owner, refs)
    let unnamed: readonly FileRef[] = refs
    try {
      for (const [index, ref] of refs.entries()) {
        const image = images[index]
        if (image) await store.put(ref, image.bytes)
      }
      await tell({ aggregate: 'video', id: videoId }, async (unit) => {
        const drawn = await unit.query<Columns<Thumbnail, 'filename'>>(
          'update thumbnail set on_disk = true where video_id = $1 and filename = any($2) returning filename',
          [videoId, awaited.map(({ filename }) => filename)],
        )
        const isDrawn = ({ name }: FileRef): boolean => drawn.some(({ filename }) => filename === name)
        await pendingFiles.settle(unit.query, refs.filter(isDrawn))
        unnamed = refs.filter((ref) => !isDrawn(ref))
      })
    } catch (error) {
      if (!(error instanceof DomainError && error.kind === 'not_found')) {
        // The next attempt writes them again.
        pendingFiles.giveUp(refs)
        await pendingFiles.collect()
        throw error
      }
    }
    // Whoever removed the video or its pictures has removed files and notes too, perhaps before a file was written here.
    await pendingFiles.discard(unnamed)
  }

  registry.job('video-pictures', {
    queue: 'media',
    run: ({ data, signal }) => drawPictures(Number(data.videoId), signal),
    async failed({ data }) {
      const videoId = Number(data.videoId)
      const awaited = await awaitedOf(videoId)
      if (awaited.length > 0) await keep(videoId, awaited, await plainImages(awaited))
    },
  })

  resumeJobs(deps, 'video-pictures', {
    waiting: `select distinct t.video_id as id from thumbnail t join video v on v.id = t.video_id
      where ${IS_AWAITED} and not v.remote and v.state <> 'removed' and not exists (
        select from job j where j.type = 'video-pictures' and j.state in ('waiting', 'delayed', 'active')
          and (j.data->>'videoId')::integer = t.video_id)
      order by 1 limit ${BATCH}`,
    ask: queuePictures,
    everyMs: LOOK_EVERY_MS,
  })

  return { drawPictures }
}

const plainImages = (sizes: readonly ImageSize[]): Promise<EncodedImage[]> => Promise.all(sizes.map(plainImage))
