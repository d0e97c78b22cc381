// The job `generate-video-storyboard`: makes the storyboard of a local video from one of its files, or offers that to remote runners. It can
// be killed and run again; concurrent runs store one storyboard, and never that of a file that was replaced meanwhile.

import {
  type Ffmpeg,
  type FileRef,
  hlsFile,
  MediaError,
  makeStoryboard,
  planStoryboard,
  probe,
  readStoryboard,
  type Store,
  type Storyboard,
  type StoryboardPlan,
  webVideoFile,
} from '../../media/index.ts'
import type { Columns } from '../../platform/database/index.ts'
import { newUuid } from '../../platform/ids.ts'
import { type InputAddress, isForRunners, notWanted, type RemoteWorks, type Result, type RunnerJob } from '../runner/index.ts'
import {
  type ActorDeps,
  CHECK_OWNER_EVERY,
  cancelRunnerJob,
  DomainError,
  ignoreNotFound,
  isOpenRunnerJob,
  type JobContext,
  offerRunnerJob,
  PermanentFailure,
  type Unit,
} from '../runtime/index.ts'
import {
  announceChange,
  hasPrivateFiles,
  isFederated,
  type Leases,
  type Openness,
  type PendingFiles,
  queueStoryboard,
  workFolder,
} from '../video/index.ts'
import { Video } from '../video/video.entity.ts'

export type StoryboardDeps = ActorDeps & {
  store: Store
  ffmpeg: Ffmpeg
  pendingFiles: PendingFiles
  leases: Pick<Leases, 'owner'>
  works: RemoteWorks
}

/** A video without a storyboard, and its best file for making one. */
interface Source extends Openness, Columns<Video, 'uuid' | 'duration'> {
  fileId: number
  /** px */
  width: number
  height: number
  filename: string
  isHls: boolean
}

/** How often the files may change during the job before it fails. */
const TRIES = 3
/** Bytes: several times what the key frames of the largest accepted picture need. */
const MAX_MEMORY = 3 * 1024 ** 3

const SOURCE_OF = `
  select v.uuid, v.duration, v.privacy, v.blocked, f.id as "fileId", f.filename, f.width, f.height,
    f.streaming_playlist_id is not null as "isHls"
  from video v join video_file f on f.video_id = v.id`

// The smallest file that is not smaller than a sprite is the cheapest to read. That of an uploaded sound contains its still.
const SOURCE = `${SOURCE_OF}
  where v.id = $1 and not v.remote and not v.is_live and v.state <> 'removed'
    and f.filename is not null and f.streams & 1 = 1 and not f.outdated
    and not exists (select from storyboard b where b.video_id = v.id)
  order by greatest(f.width, f.height) < 192, abs(greatest(f.width, f.height) - 192), "isHls", f.id limit 1`

/** The same for a runner. */
const TYPE = 'generate-video-storyboard'
const MAX_RESULT_BYTES = 16 * 1024 * 1024

/** Registers the job, and the kind of work of remote runners. */
export function makeStoryboards(deps: StoryboardDeps): void {
  const { db, tell, registry, config, logger, store, ffmpeg, pendingFiles, leases, works } = deps

  registry.job(TYPE, { queue: 'media', run: (job) => run(job) })

  works.add(TYPE, {
    payload: payloadOf,
    privatePayload: ({ data }) => ({ videoUUID: data.video }),
    input,
    results: async () => ({ storyboardFile: MAX_RESULT_BYTES }),
    take,
  })

  // While the job of a replaced file was open, none was offered for the new one.
  registry.on('RunnerJobFailed', 'storyboard', async ({ type, data }, unit) => {
    if (type !== TYPE || (await isCurrent(unit, Number(data.fileId)))) return
    queueStoryboard(unit, Number(data.videoId), config())
  })

  // No row of a video waits for its storyboard.
  registry.periodic('storyboards-of-runners', {
    everyMs: () => CHECK_OWNER_EVERY,
    async run() {
      if (await isRemote()) return
      const open = await db.query<{ videoId: number }>(
        `select (j.data->>'videoId')::int as "videoId" from job j where j.uuid is not null and j.type = $1 and ${isOpenRunnerJob('j')}
         order by j.id limit 100`,
        [TYPE],
      )
      for (const { videoId } of open) await ignoreNotFound(tell({ aggregate: 'video', id: videoId }, (unit) => takeBack(unit, videoId)))
    },
  })

  const isRemote = (): Promise<boolean> => isForRunners(db, deps, config().storyboards.remote_runners.enabled)

  async function takeBack(unit: Unit, videoId: number): Promise<void> {
    await cancelRunnerJob(unit, TYPE, videoId)
    queueStoryboard(unit, videoId, config())
  }

  const isCurrent = async ({ query }: Pick<Unit, 'query'>, fileId: number): Promise<boolean> =>
    (await query('select 1 from video_file where id = $1 and not outdated', [fileId])).length > 0

  async function offer(videoId: number, { uuid: video, duration, fileId, width, height }: Source): Promise<void> {
    const data = { videoId, video, duration, fileId, width, height }
    await tell({ aggregate: 'video', id: videoId }, (unit) =>
      offerRunnerJob(unit, { type: TYPE, data, priority: config().vireo.jobs.priorities.transcoding }),
    )
  }

  async function input({ data }: RunnerJob, file: string): Promise<FileRef | undefined> {
    if (file !== 'max-quality') return undefined
    const [source] = await db.query<Source>(`${SOURCE_OF} where f.id = $1 and not f.outdated`, [Number(data.fileId)])
    if (!source) throw notWanted()
    return await placeOf(source)
  }

  async function take(job: RunnerJob, { files }: Result, done: (unit: Unit) => Promise<void>): Promise<void> {
    const made = await readStoryboard(files.storyboardFile ?? '', planOf(job))
    await keep(Number(job.data.videoId), Number(job.data.fileId), made, done)
  }

  async function run({ data, signal, progress }: JobContext): Promise<void> {
    const videoId = Number(data.videoId)
    for (let tries = 1; config().storyboards.enabled; tries += 1) {
      const [source] = await db.query<Source>(SOURCE, [videoId])
      if (!source) return
      if (await isRemote()) return await offer(videoId, source)
      const place = await placeOf(source)
      try {
        const made = await make({ ...source, place }, signal, progress)
        if (!made) return logger.info({ video: source.uuid }, 'the file of a video shows nothing for a storyboard')
        if (await keep(videoId, source.fileId, made)) return logger.info({ video: source.uuid }, 'storyboard made')
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
          wanted: duration,
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

  /** Stores the picture with its row; false if the video's files changed. `done` completes the job of a runner in the same transaction. */
  async function keep(
    videoId: number,
    fileId: number,
    { plan, bytes, width, height }: Storyboard,
    done?: (unit: Unit) => Promise<void>,
  ): Promise<boolean> {
    const ref: FileRef = { kind: 'storyboards', name: `${newUuid()}.jpg` }
    await pendingFiles.reserve(leases.owner, [ref])
    try {
      await store.put(ref, bytes)
      const outcome = await tell({ aggregate: 'video', id: videoId }, async (unit) => {
        const video = await unit.em.findOneOrFail(Video, videoId)
        await done?.(unit)
        if (video.state === 'removed' || !(await isCurrent(unit, fileId))) {
          if (done) queueStoryboard(unit, videoId, config())
          return 'outdated'
        }
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

/** What a later version of the reference server tells its runners. */
function payloadOf(job: RunnerJob, address: InputAddress): Record<string, unknown> {
  const { sprite: size, columns, rows, spriteDuration: duration } = planOf(job)
  return { input: { videoFileUrl: address('max-quality') }, sprites: { size, count: { width: columns, height: rows }, duration } }
}

const planOf = ({ data }: RunnerJob): StoryboardPlan =>
  planStoryboard({ duration: Number(data.duration), width: Number(data.width), height: Number(data.height) })

const placesOf = ({ uuid, filename, isHls, ...openness }: Source): [FileRef, FileRef] => {
  const isPrivate = hasPrivateFiles(openness)
  const at = (hidden: boolean) => (isHls ? hlsFile(uuid, filename, hidden) : webVideoFile(filename, hidden))
  return [at(isPrivate), at(!isPrivate)]
}

/** An outage of the database, or a full disk, is temporary. */
const asFailure = (error: unknown): unknown =>
  error instanceof MediaError && error.reason !== 'disk-full' ? new PermanentFailure(error.message, { cause: error }) : error
