// The job `video-import`: downloads a video and stores its file. It can be killed and resumes from what exists. Concurrent runs are safe,
// since only the holder of the row's lease works.

import { copyFile, rename } from 'node:fs/promises'
import { basename, extname } from 'node:path'
import {
  acceptedExtensions,
  DownloadError,
  type DownloadedVideo,
  type DownloadSource,
  type Downloads,
  type FileRef,
  isDiskFull,
  MediaError,
  type Store,
  systemCode,
} from '../../media/index.ts'
import type { Captions } from '../caption/index.ts'
import {
  DomainError,
  holderOf,
  ifThere,
  ignoreNotFound,
  type JobContext,
  type LeasedRow,
  makeRowLeases,
  NotNow,
  PermanentFailure,
  takes,
} from '../runtime/index.ts'
import { type UserRole, userRoles } from '../user/index.ts'
import { type GivenPictures, type InspectFile, importOwner, type Leases, workFolder } from '../video/index.ts'
import { beginningOf, fieldsFrom, type ImportFields, type ImportTarget } from './import-fields.ts'
import { storeSubtitles } from './store-subtitles.ts'
import { titleOf, type VideoImportDeps } from './video-import.commands.ts'
import { move, settingsOf, videoImportLifecycle, withImport } from './video-import-state.ts'

export type RunImportDeps = VideoImportDeps & {
  store: Store
  inspectFile: InspectFile
  downloads: Downloads
  captions: Pick<Captions, 'set'>
  leases: Leases
}

/** An import that a worker has leased. */
interface Task extends ImportTarget, LeasedRow {
  fields: ImportFields
  torrent: Buffer | null
  videoId: number
  name: string
  privacy: number
  blocked: boolean
  waitTranscoding: boolean
  /** Current owner of the video, which may have moved since the request. */
  userId: number
  accountId: number
  /** Types of pictures that the video has already. */
  pictures: number[]
}

/** How often at most the worker renews its lease and checks that the import is still wanted, in ms. */
const BEAT_EVERY = 1_000
/** Share of the progress for the download. */
const DOWNLOAD_PART = 0.9

/** Registers the job. */
export function runImports(deps: RunImportDeps): void {
  const { db, registry, config, clock, logger, store, createVideo, inspectFile, downloads, pendingFiles, leases } = deps
  const rowLeases = makeRowLeases({
    db,
    clock,
    logger,
    leases,
    length: () => settingsOf(deps).lease,
    beatEvery: BEAT_EVERY,
    table: 'video_import',
    until: 'due_at',
    active: "x.state = 'processing'",
    wanted: `exists (select from video v join channel c on c.id = v.channel_id join account a on a.id = c.account_id
      join users u on u.id = a.user_id where v.id = x.video_id and v.state = 'to-import' and not u.blocked)`,
  })

  registry.job('video-import', {
    queue: 'media',
    run: (job) => run(job),
    failed: ({ data }, error) => ignoreNotFound(fail(Number(data.importId), error)),
  })

  async function run({ data, signal, progress }: JobContext): Promise<void> {
    const task = await claim(Number(data.importId))
    if (!task) return
    const log = logger.child({ import: task.id, video: task.videoId })
    const beat = rowLeases.startHeartbeat(task)
    try {
      await importVideo(task, AbortSignal.any([signal, beat.signal]), progress)
      log.info('a video was imported')
    } catch (error) {
      if (signal.aborted) throw isTimeOut(signal.reason) ? new Error('The import took too long.') : error
      await settle(task, error)
      log.info({ err: error }, 'an import was given up')
    } finally {
      await beat.stop()
      await rowLeases.release(task)
      await pendingFiles.collect()
    }
  }

  /** Classifies a failure: the import was cancelled, its user may not import, or it failed. */
  async function settle(task: Task, error: unknown): Promise<void> {
    if (!(await rowLeases.holds(task))) return
    if (await isVideoGone(task)) {
      await ignoreNotFound(end(task.id, { type: 'CANCELLED' }))
      return
    }
    if (await isBlocked(task)) {
      await ignoreNotFound(end(task.id, { type: 'REJECTED', error: 'This user may not import videos.' }))
      return
    }
    if (error instanceof DomainError && error.kind === 'busy') throw error
    if (isForNow(error)) throw new NotNow('The server has no room for the video, or cannot look at it now.', { cause: error })
    throw new PermanentFailure(reasonFor(error), { cause: error })
  }

  /** For an import that no worker has leased. */
  async function fail(id: number, error: string): Promise<void> {
    await withImport(deps, id, async (locked) => {
      if (!takes(videoImportLifecycle, locked.videoImport, { type: 'FAILED', error })) return
      rowLeases.refuseLeased(holderOf(locked.videoImport))
      await move(locked, { type: 'FAILED', error }, settingsOf(deps))
    })
    await pendingFiles.collect()
  }

  async function end(id: number, event: { type: 'REJECTED'; error: string } | { type: 'CANCELLED' }): Promise<void> {
    await withImport(deps, id, async (locked) => {
      if (takes(videoImportLifecycle, locked.videoImport, event)) await move(locked, event, settingsOf(deps))
    })
    await pendingFiles.collect()
  }

  /** Leases the import; undefined if there is nothing to do or a living worker has the lease. */
  async function claim(id: number): Promise<Task | undefined> {
    const settings = settingsOf(deps)
    const owner = await ifThere(
      withImport(deps, id, async (locked) => {
        const { videoImport: row, video } = locked
        if (!video && takes(videoImportLifecycle, row, { type: 'CANCELLED' })) await move(locked, { type: 'CANCELLED' }, settings)
        return await rowLeases.claim({
          row,
          waiting: 'pending',
          working: 'processing',
          move: (type) => move(locked, { type, settings }, settings),
        })
      }),
    )
    if (owner === undefined) return undefined
    const [row] = await db.query<Omit<Task, 'owner' | 'torrentTitle'>>(
      `select i.id, i.fields, i.target_url as "targetUrl", i.magnet_uri as "magnetUri", i.torrent_name as "torrentName",
         i.torrent, v.id as "videoId", v.name, v.privacy, v.blocked,
         v.wait_transcoding as "waitTranscoding", a.user_id as "userId", a.id as "accountId",
         array(select t.type from thumbnail t where t.video_id = v.id) as pictures
       from video_import i join video v on v.id = i.video_id join channel c on c.id = v.channel_id
         join account a on a.id = c.account_id
       where i.id = $1`,
      [id],
    )
    return row && { ...row, torrentTitle: await titleOf(row), owner }
  }

  async function importVideo(task: Task, signal: AbortSignal, progress: (percent: number) => void): Promise<void> {
    const { id } = task
    const left = await createVideo.quotaLeft(task.userId)
    if (left <= 0) await createVideo.checkQuota(task.userId, 1)
    const work = workFolder('import', id)
    await pendingFiles.reserve(importOwner(id), [work])
    const downloaded = await downloads.download(sourceOf(task), {
      folder: await store.workFolder(work.name),
      maxBytes: Math.min(left, config().vireo.imports.max_size),
      signal,
      onProgress: (percent) => progress(percent * DOWNLOAD_PART),
      bringBack: (path) => bringBack(id, path, signal),
    })
    const inputFilename = nameFor(downloaded, acceptedExtensions(config()))
    const draft = await inspectFile.inspect({
      video: task,
      inputFilename,
      path: downloaded.path,
      pictures: await picturesFor(task, downloaded),
      signal,
    })
    await pendingFiles.reserve(importOwner(id), [draft.place])
    if (!(await rowLeases.holds(task))) throw leaseLost()
    try {
      await inspectFile.place(draft, downloaded.path)
      await storeSubtitles(deps, { ...task, by: ownerOf(task), subtitles: downloaded.subtitles ?? [] })
      await finish(task, downloaded, draft)
    } catch (error) {
      // The transaction may have been committed although its response was lost. The file waits for a retry, or for the end.
      if (!(await isDone(id))) await inspectFile.discard(draft, { source: false })
      throw error
    }
    await pendingFiles.discard([work])
  }

  /** Restores a file that an earlier attempt placed, and that no row names: otherwise the import would have ended. */
  async function bringBack(id: number, path: string, signal: AbortSignal): Promise<void> {
    const placed = await db.query<FileRef>("select kind, name from pending_file where owner = $1 and kind <> 'tmp' order by id desc", [
      importOwner(id),
    ])
    for (const ref of placed) {
      try {
        await store.withLocalPath(ref, (from) => moveTo(path, from), signal)
        return await pendingFiles.discard([ref])
      } catch (error) {
        if (!isMissing(error)) throw error
      }
    }
  }

  async function finish(task: Task, { metadata }: DownloadedVideo, draft: Awaited<ReturnType<InspectFile['inspect']>>): Promise<void> {
    const { chapters, ...details } = metadata
    const filling = { found: fieldsFrom(details, task.fields), asked: beginningOf(task.fields, task) }
    const { videoId } = task
    const automaticTags = videoId === null ? [] : await deps.awaitedVideos.tagsOf({ videoId, ...filling })
    await withImport(deps, task.id, async (locked) => {
      const { unit, videoImport, video } = locked
      if (!video || videoImport.leaseOwner !== task.owner || videoImport.state !== 'processing') {
        throw leaseLost()
      }
      await deps.awaitedVideos.fill(unit, {
        videoId: video.id,
        draft,
        automaticTags,
        ...filling,
        // In ffprobe's format.
        chapters: chapters?.map(({ start, title }) => ({ start_time: start, tags: { title } })),
      })
      await move(locked, { type: 'SUCCEEDED' }, settingsOf(deps))
    })
  }

  /** The picture of the other site, unless its user uploaded one. */
  async function picturesFor({ pictures, id }: Task, { picturePath }: DownloadedVideo): Promise<GivenPictures> {
    if (picturePath === undefined || pictures.length > 1) return {}
    try {
      return {
        thumbnail: await createVideo.fitPicture('thumbnail', picturePath),
        preview: await createVideo.fitPicture('preview', picturePath),
      }
    } catch (error) {
      if (!(error instanceof MediaError)) throw error
      logger.debug({ err: error, import: id }, 'the picture of an imported video is of no use')
      return {}
    }
  }

  const isDone = async (id: number): Promise<boolean> =>
    (await db.query("select 1 from video_import where id = $1 and state = 'success'", [id])).length > 0

  const isBlocked = async ({ userId }: Task): Promise<boolean> =>
    (await db.query('select 1 from users where id = $1 and blocked', [userId])).length > 0

  const isVideoGone = async ({ videoId }: Task): Promise<boolean> =>
    (await db.query("select 1 from video where id = $1 and state <> 'removed'", [videoId])).length === 0
}

const leaseLost = (): DomainError => new DomainError('gone', 'This import was leased by another worker, or is not wanted any more.')

function sourceOf({ targetUrl, magnetUri, torrent }: Task): DownloadSource {
  if (targetUrl !== null) return { kind: 'url', url: targetUrl }
  if (magnetUri !== null) return { kind: 'magnet', uri: magnetUri }
  if (torrent !== null) return { kind: 'torrent', bytes: torrent }
  throw new PermanentFailure('The source has nothing to import.')
}

const ownerOf = ({ accountId }: Task): { accountId: number; role: UserRole } => ({ accountId, role: userRoles.user })

/** It was never placed, or removed by its writer. */
const isMissing = (error: unknown): boolean =>
  systemCode(error) === 'ENOENT' || (error instanceof MediaError && error.reason === 'not-found')

async function moveTo(target: string, path: string): Promise<void> {
  try {
    await rename(path, target)
  } catch (error) {
    // It is on another disk.
    if (systemCode(error) !== 'EXDEV') throw error
    await copyFile(path, target)
  }
}

const LONGEST_NAME = 200

/** A name with an accepted extension. Throws `unsupported_media_type` for any other. */
function nameFor({ fileName }: DownloadedVideo, accepted: readonly string[]): string {
  const name = basename(fileName.replaceAll('\0', '')).slice(-LONGEST_NAME)
  const extension = extname(name).toLowerCase()
  if (accepted.includes(extension)) return name
  throw new DomainError('unsupported_media_type', `This file is not supported. It should be of one of these types: ${accepted.join(', ')}`)
}

/** True if this server is at fault: the complete download is kept. */
const isForNow = (error: unknown): boolean =>
  (error instanceof DomainError && error.kind === 'unavailable') || (!(error instanceof DownloadError) && isDiskFull(error))

const isTimeOut = (reason: unknown): boolean => reason instanceof Error && reason.name === 'TimeoutError'

/** Message for the user. */
function reasonFor(error: unknown): string {
  const isAnnounced = error instanceof DomainError || error instanceof DownloadError || error instanceof PermanentFailure
  return isAnnounced ? error.message : 'The video could not be imported.'
}
