// The job `generate-video-storyboard`: makes the storyboard of a local video from one of its files. It can be killed and run again;
// concurrent runs store one storyboard, and never that of a file that was replaced meanwhile.

import {
  type Ffmpeg,
  type FileRef,
  hlsFile,
  MediaError,
  makeStoryboard,
  probe,
  type Store,
  type Storyboard,
  webVideoFile,
} from '../../media/index.ts'
import { newUuid } from '../../platform/ids.ts'
import { type ActorDeps, DomainError, type JobContext, PermanentFailure } from '../runtime/index.ts'
import { announceChange, hasPrivateFiles, isFederated, type Leases, type Openness, type PendingFiles, workFolder } from '../video/index.ts'
import { Video } from '../video/video.entity.ts'

export type StoryboardDeps = ActorDeps & {
  store: Store
  ffmpeg: Ffmpeg
  pendingFiles: PendingFiles
  leases: Pick<Leases, 'owner'>
}

/** A video without a storyboard, and its best file for making one. */
interface Source extends Openness {
  uuid: string
  /** Seconds. */
  duration: number
  fileId: number
  filename: string
  isHls: boolean
}

/** How often the files may change during the job before it fails. */
const TRIES = 3
/** Bytes: several times what the key frames of the largest accepted picture need. */
const MAX_MEMORY = 3 * 1024 ** 3

// The smallest file that is not smaller than a sprite is the cheapest to read. That of an uploaded sound contains its still.
const SOURCE = `
  select v.uuid, v.duration, v.privacy, v.blocked, f.id as "fileId", f.filename,
    f.streaming_playlist_id is not null as "isHls"
  from video v join video_file f on f.video_id = v.id
  where v.id = $1 and not v.remote and not v.is_live and v.state <> 'removed'
    and f.filename is not null and f.streams & 1 = 1 and not f.outdated
    and not exists (select from storyboard b where b.video_id = v.id)
  order by greatest(f.width, f.height) < 192, abs(greatest(f.width, f.height) - 192), "isHls", f.id limit 1`

/** Registers the job. */
export function makeStoryboards(deps: StoryboardDeps): void {
  const { db, tell, registry, config, logger, store, ffmpeg, pendingFiles, leases } = deps

  registry.job('generate-video-storyboard', { queue: 'media', run: (job) => run(job) })

  async function run({ data, signal, progress }: JobContext): Promise<void> {
    const videoId = Number(data.videoId)
    for (let tries = 1; config().storyboards.enabled; tries += 1) {
      const [source] = await db.query<Source>(SOURCE, [videoId])
      if (!source) return
      const place = await placeOf(source)
      try {
        const made = await make({ ...source, place }, signal, progress)
        if (!made) return logger.info({ video: source.uuid }, 'the file of a video shows nothing for a storyboard')
        if (await keep(videoId, source, made)) return logger.info({ video: source.uuid }, 'storyboard made')
      } catch (error) {
        signal.throwIfAborted()
        if (error instanceof DomainError && error.kind === 'not_found') return
        const isGone = (await store.stat(place)) === undefined
        if (!isGone || tries === TRIES) throw asFailure(error)
      }
      if (tries === TRIES) throw new PermanentFailure('The files of the video change again and again.')
    }
  }

  async function make(
    { place, duration }: { place: FileRef; duration: number },
    signal: AbortSignal,
    onProgress: (percent: number) => void,
  ): Promise<Storyboard | undefined> {
    const { media } = config().vireo
    const folder = workFolder('storyboard', newUuid())
    await pendingFiles.reserve(leases.owner, [folder])
    try {
      return await store.withLocalPath(place, async (input) =>
        makeStoryboard({
          ffmpeg,
          input,
          signal,
          onProgress,
          duration,
          probe: await probe({ ffmpeg, path: input, signal, timeoutMs: media.probe_timeout }),
          workFolder: await store.workFolder(folder.name),
          limits: { stallMs: media.stall_timeout, maxMemoryBytes: MAX_MEMORY },
          niceness: media.nice,
        }),
      )
    } finally {
      await pendingFiles.discard([folder])
    }
  }

  /** Location of the file: in the folder of the video's privacy, or still in the other one. */
  async function placeOf(source: Source): Promise<FileRef> {
    const [place, other] = placesOf(source)
    return (await store.stat(place)) === undefined && (await store.stat(other)) !== undefined ? other : place
  }

  /** Stores the picture with its row; false if the video's files changed. */
  async function keep(videoId: number, { fileId }: Source, { plan, bytes, width, height }: Storyboard) {
    const ref: FileRef = { kind: 'storyboards', name: `${newUuid()}.jpg` }
    await pendingFiles.reserve(leases.owner, [ref])
    try {
      await store.put(ref, bytes)
      const outcome = await tell({ aggregate: 'video', id: videoId }, async (unit) => {
        const video = await unit.em.findOneOrFail(Video, videoId)
        const [file] = await unit.query('select 1 from video_file where id = $1 and not outdated', [fileId])
        if (video.state === 'removed' || !file) return 'outdated'
        const [stored] = await unit.query(
          `insert into storyboard (video_id, filename, total_width, total_height, sprite_width, sprite_height,
             sprite_duration, created_at, updated_at)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $8) on conflict (video_id) do nothing returning id`,
          [videoId, ref.name, width, height, plan.sprite.width, plan.sprite.height, plan.spriteDuration, unit.now],
        )
        if (!stored) return 'there'
        await pendingFiles.settle(unit.query, [ref])
        // A video that is not published yet is announced later, with its storyboard.
        if (video.state === 'published' && isFederated(video.privacy)) announceChange(unit, video)
        return 'stored'
      })
      if (outcome !== 'stored') await pendingFiles.discard([ref])
      return outcome !== 'outdated'
    } catch (error) {
      // The transaction may have been committed although its response was lost.
      const stored = await db.query('select 1 from storyboard where filename = $1', [ref.name])
      if (stored.length === 0) await pendingFiles.discard([ref])
      throw error
    }
  }
}

const placesOf = ({ uuid, filename, isHls, ...openness }: Source): [FileRef, FileRef] => {
  const isPrivate = hasPrivateFiles(openness)
  const at = (hidden: boolean) => (isHls ? hlsFile(uuid, filename, hidden) : webVideoFile(filename, hidden))
  return [at(isPrivate), at(!isPrivate)]
}

/** An outage of the database, or a full disk, is temporary. */
const asFailure = (error: unknown): unknown =>
  error instanceof MediaError && error.reason !== 'disk-full' ? new PermanentFailure(error.message, { cause: error }) : error
