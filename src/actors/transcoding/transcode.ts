// The job `video-transcoding`: makes the renditions of a video. It can be killed and run again, and continues from what is stored.
// Concurrent runs are safe, since only the holder of the row's lease works.

import {
  type FileRef,
  isDiskFull,
  type LadderFile,
  type LadderPlan,
  MediaError,
  outlineOf,
  planLadder,
  probe,
  runLadder,
} from '../../media/index.ts'
import type { Columns } from '../../platform/database/index.ts'
import { newUuid } from '../../platform/ids.ts'
import { isForRunners } from '../runner/index.ts'
import {
  advance,
  contextOf,
  DomainError,
  holderOf,
  ifThere,
  type JobContext,
  LeaseLost,
  makeRowLeases,
  PermanentFailure,
  takes,
} from '../runtime/index.ts'
import {
  advanceAndAnnounce,
  type DrawPictures,
  dropProvisional,
  hasPrivateFiles,
  queueStoryboard,
  queueTorrents,
  transcodingOwner,
  videoLifecycle,
  workFolder,
} from '../video/index.ts'
import { thumbnailTypes, Video } from '../video/video.entity.ts'
import { forgetOriginal } from '../video/video.writes.ts'
import { hasRunnerJobs, makeRemoteTranscodings } from './remote-transcoding.ts'
import { findSourceFile, isThere, type SourceFile, withSourceFile } from './source-file.ts'
import { makeStoreRenditions, withOwned } from './store-renditions.ts'
import { settingsFor, type Task } from './task.ts'
import { isActive, type Transcoding, transcodingLifecycle } from './transcoding.entity.ts'
import { cancelRunnerJobs, planTranscoding, queueTranscoding } from './transcoding.writes.ts'
import { type Locked, settingsOf, type TranscodingDeps, withTranscoding } from './transcoding-state.ts'
import { writeMaster } from './write-master.ts'

/** How often at most the worker renews its lease and checks that the video still exists, in ms. */
const BEAT_EVERY = 2_000

/** Registers the job, the timeout and the event handlers of transcodings. */
export function makeTranscodings(deps: TranscodingDeps & DrawPictures): void {
  const { db, tell, registry, config, clock, logger, store, ffmpeg, pendingFiles, placeFiles, leases, drawPictures } = deps
  const storeRenditions = makeStoreRenditions(deps)
  const rowLeases = makeRowLeases({
    db,
    clock,
    logger,
    leases,
    length: () => settingsOf(deps).lease,
    beatEvery: BEAT_EVERY,
    table: 'transcoding',
    until: 'due_at',
    active: `x.state in ('planned', 'running', 'packaged', 'stored')
      and exists (select from video v where v.id = x.video_id and v.state <> 'removed')`,
  })

  const remote = makeRemoteTranscodings({
    ...deps,
    rowLeases,
    storeRenditions,
    claim,
    announceRenditions,
    complete,
    isStored: stored,
    fail,
    settingsFor: (task) => settingsFor(task, config().transcoding),
  })

  registry.job('video-transcoding', {
    queue: 'media',
    run: (job) => run(job),
    failed: ({ data }, error) => fail(Number(data.transcodingId), error),
  })

  registry.timeout('transcoding', {
    of: transcodingLifecycle,
    timedOut: (id) => withTranscoding(deps, id, noteSilence),
  })

  // Ensures that a video that waits for renditions has a transcoding.
  registry.timeout('video', {
    of: videoLifecycle,
    in: ['to-transcode'],
    timedOut: (id) =>
      tell({ aggregate: 'video', id }, async (unit) => {
        const video = await unit.em.findOneOrFail(Video, id)
        if (video.state !== 'to-transcode') return
        advance(unit, videoLifecycle, video, { type: 'TIMED_OUT' })
        const [active] = await unit.query(
          "select id from transcoding where video_id = $1 and state in ('planned', 'running', 'packaged', 'stored')",
          [id],
        )
        if (!active) await planTranscoding(unit, id, config().vireo.jobs.priorities.transcoding)
      }),
  })

  async function run({ data, signal, progress }: JobContext): Promise<void> {
    const id = Number(data.transcodingId)
    const task = await claim(id)
    if (!task) return
    const log = logger.child({ transcoding: id, video: task.uuid })
    const beat = rowLeases.startHeartbeat(task)
    try {
      const isMade = await transcode(task, AbortSignal.any([signal, beat.signal]), progress, log)
      log.info(isMade ? 'transcoding done' : 'transcoding offered to remote runners')
    } catch (error) {
      if (isTimeOut(signal)) throw new PermanentFailure('The transcoding took longer than a job may.', { cause: error })
      if (signal.aborted) throw error
      if (beat.signal.aborted || isLost(error) || !(await rowLeases.holds(task))) {
        log.info('transcoding cancelled: the video was deleted, or another worker has it')
      } else if (isDiskFull(error)) {
        // The work files occupy the space that the job waits for.
        await pendingFiles.discard([workFolder('transcoding', task.id)])
        throw error
      } else if (error instanceof MediaError) {
        log.warn({ err: error, detail: error.detail }, 'transcoding failed')
        throw new PermanentFailure(error.message, { cause: error })
      } else throw error
    } finally {
      await beat.stop()
      await rowLeases.release(task)
      await pendingFiles.collect()
    }
  }

  /** Leases the transcoding; undefined if there is nothing to do or a living worker has the lease. */
  async function claim(id: number): Promise<Task | undefined> {
    const owner = rowLeases.newOwner()
    const claimed = await ifThere(
      withTranscoding(deps, id, async ({ unit, video, transcoding }) => {
        if (!isActive(transcoding.state) || rowLeases.isLeased(holderOf(transcoding))) return false
        const holder = transcoding.leaseOwner
        // A worker that stops regularly releases the lease; one that died does not.
        if (holder && transcoding.state !== 'planned') countLoss({ unit, video, transcoding })
        if (!isActive(transcoding.state)) return false
        transcoding.leaseOwner = owner
        transcoding.dueAt = rowLeases.end()
        return true
      }),
    )
    if (!claimed) return undefined
    const [row] = await db.query<Omit<Task, 'id' | 'owner'>>(
      `select v.id as "videoId", v.uuid, s.kept_filename as source, x.outputs, x.keep_source as "keepSource",
         v.wait_transcoding as waits,
         (select t.filename from thumbnail t where t.video_id = v.id and t.type = ${thumbnailTypes.preview}) as preview
       from transcoding x join video v on v.id = x.video_id left join video_source s on s.video_id = v.id where x.id = $1`,
      [id],
    )
    return row && { id, owner, ...row }
  }

  /** The machine's `TIMED_OUT` for a lost worker; after too many losses the video's transcoding fails. */
  function countLoss({ unit, video, transcoding }: Locked): void {
    const settings = settingsOf(deps)
    advance(unit, transcodingLifecycle, transcoding, { type: 'TIMED_OUT', settings, isReleased: !transcoding.leaseOwner }, settings)
    transcoding.leaseOwner = null
    const error = transcoding.error
    if (transcoding.state === 'failed') failVideo({ unit, video, transcoding }, error ?? 'The worker was lost.')
  }

  async function noteSilence(locked: Locked): Promise<void> {
    const { unit, transcoding } = locked
    if (!transcoding.dueAt || transcoding.dueAt > unit.now) return
    const isOffered = transcoding.state === 'running' && !transcoding.leaseOwner && (await hasRunnerJobs(unit, transcoding.id))
    if (isOffered && (await isRemote(unit))) {
      return void advance(unit, transcodingLifecycle, transcoding, { type: 'RENEWED' }, settingsOf(deps))
    }
    countLoss(locked)
    if (isActive(transcoding.state)) queueTranscoding(unit, transcoding.id, config().vireo.jobs.priorities.transcoding)
  }

  const isRemote = (database: Parameters<typeof isForRunners>[0]): Promise<boolean> =>
    isForRunners(database, deps, config().transcoding.remote_runners.enabled)

  function failVideo({ unit, video }: Locked, error: string): void {
    const event = { type: 'TRANSCODING_FAILED', error } as const
    if (takes(videoLifecycle, video, event)) advance(unit, videoLifecycle, video, event)
    // For renditions stored before.
    queueStoryboard(unit, video.id, config())
  }

  async function fail(id: number, error: string): Promise<void> {
    // If the video was removed meanwhile, nothing depends on it any more.
    await ifThere(
      withTranscoding(deps, id, async (locked) => {
        if (!takes(transcodingLifecycle, locked.transcoding, { type: 'FAILED', error })) return
        // The failure may come from a worker that had lost its lease.
        rowLeases.refuseLeased(holderOf(locked.transcoding))
        advance(locked.unit, transcodingLifecycle, locked.transcoding, { type: 'FAILED', error }, settingsOf(deps))
        await cancelRunnerJobs(locked.unit, id)
        failVideo(locked, error)
      }),
    )
    await pendingFiles.collect()
  }

  /** Returns false if remote runners make the renditions. */
  async function transcode(task: Task, signal: AbortSignal, progress: (percent: number) => void, log: typeof logger): Promise<boolean> {
    const work = workFolder('transcoding', task.id)
    await pendingFiles.reserve(transcodingOwner(task.id), [work])
    let isMade = await stored(task.id)
    if (!isMade) {
      const find = (): Promise<SourceFile> => findSourceFile(deps, { videoId: task.videoId, kept: task.source })
      const makeAll = (source: SourceFile): Promise<boolean> =>
        withSourceFile(deps, source, { id: task.id, signal }, (input) => {
          const hasSoundApart = source.sound !== undefined
          return make(task, { input, hasSoundApart, work, signal, progress, log })
        })
      const source = await find()
      isMade = await makeAll(source).catch(async (error: unknown) => {
        // A rendition that others are made from can be moved or removed meanwhile; an original cannot.
        const isTornAway = (await isThere(deps, source))
          ? error instanceof MediaError && error.reason === 'not-found'
          : task.source === null && error instanceof MediaError
        if (!isTornAway) throw error
        // A change of the privacy moved the folder during the work: the files are made once more.
        log.warn({ err: error }, 'files of a transcoding went missing')
        return await makeAll(await find())
      })
    }
    signal.throwIfAborted()
    if (isMade) await complete(task)
    await pendingFiles.discard([work])
    return isMade
  }

  /** True if all renditions are stored, and only the end is missing. */
  async function stored(id: number): Promise<boolean> {
    const [row] = await db.query<Columns<Transcoding, 'state'>>('select state from transcoding where id = $1', [id])
    return row?.state === 'packaged' || row?.state === 'stored'
  }

  async function withStill<T>({ videoId, preview }: Task, fn: (path: string | undefined) => Promise<T>, signal: AbortSignal): Promise<T> {
    // The job that draws it may run later than this one.
    await drawPictures(videoId, signal)
    const ref: FileRef = { kind: 'previews', name: preview ?? '' }
    const exists = preview !== null && (await store.stat(ref)) !== undefined
    return exists ? await store.withLocalPath(ref, fn) : await fn(undefined)
  }

  interface Making {
    input: string
    /** True if it was joined from two files. */
    hasSoundApart: boolean
    work: FileRef
    signal: AbortSignal
    progress: (percent: number) => void
    log: typeof logger
  }

  async function make(task: Task, { input, hasSoundApart, work, signal, progress, log }: Making): Promise<boolean> {
    const { media } = config().vireo
    const found = await probe({ ffmpeg, path: input, signal, timeoutMs: media.probe_timeout })
    const plan = planLadder({
      probe: found,
      settings: settingsFor(task, config().transcoding),
      still: config().thumbnails.sizes[1],
      // Also after a resume, or the stored renditions would not fit.
      early: task.outputs === null && !task.waits,
    })
    // For example after a change of the configuration: all would be encoded and nothing stored.
    if (!plan.outputs.hls && !plan.outputs.webVideos) {
      throw new PermanentFailure('Neither HLS nor web videos are made on this server.')
    }
    if (await isRemote(db)) return await remote.offer(task, { plan, hasSoundApart })
    const total = plan.encoded.length + (plan.copied ? 1 : 0)
    const made = await begin(task, { total, plan: outlineOf(plan) })
    log.info({ renditions: summaryOf(plan), made }, 'transcoding started')
    // A crash may have come between storing the rows of a step and announcing them.
    if (made > 0) await announceRenditions(task)
    if (made >= total) return true
    // A playlist that is removed later does not come back under its old names.
    let isFirst = made === 0
    const folder = await store.workFolder(work.name)
    const encode = (stillPath?: string): Promise<void> =>
      runLadder({
        ffmpeg,
        plan,
        input,
        stillPath,
        signal,
        newUuid,
        workFolder: folder,
        threads: config().transcoding.threads,
        limits: { stallMs: media.stall_timeout, maxMemoryBytes: media.max_memory },
        niceness: media.nice,
        skip: made > 0 ? ['copy', 'quick'] : [],
        onProgress: progress,
        onStart: ({ pid, step }) => log.info({ pid, step }, 'ffmpeg started'),
        onFiles: async (files: LadderFile[], step, names) => {
          await storeRenditions({ ...task, source: found, playlist: isFirst ? names : undefined }, files)
          isFirst = false
          log.info({ step, files: files.length }, 'renditions stored')
          await announceRenditions(task)
        },
      })
    await (found.video ? encode() : withStill(task, encode, signal))
    return true
  }

  /** Records the planned renditions; returns how many are stored already. */
  async function begin(task: Task, { total, plan }: { total: number; plan: string }): Promise<number> {
    return await withOwned(deps, task.id, task.owner, async ({ unit, transcoding }) => {
      const before = contextOf(transcodingLifecycle, transcoding)
      const settings = settingsOf(deps)
      // If the configuration or the wish to wait has changed, the ladder differs, and all renditions are made again.
      const isSame = before.plan === plan
      const made = isSame ? before.made : 0
      if (transcoding.state === 'running' && !isSame) {
        advance(unit, transcodingLifecycle, transcoding, { type: 'TIMED_OUT', settings, isReleased: true }, settings)
      }
      if (!isSame) await cancelRunnerJobs(unit, task.id)
      if (transcoding.state === 'planned') {
        advance(unit, transcodingLifecycle, transcoding, { type: 'STARTED', total, made, plan }, settings)
        if (made === total) advance(unit, transcodingLifecycle, transcoding, { type: 'PACKAGED' }, settings)
      }
      return made
    })
  }

  /** Rewrites the master playlist, then reports each playable rendition to the video. */
  async function announceRenditions(task: Task): Promise<void> {
    await afterMaster(task, async ({ unit, video, transcoding }) => {
      const { made, total } = contextOf(transcodingLifecycle, transcoding)
      // With the last rendition, the end of the ladder reports everything at once.
      const missing = made === total ? 0 : made - contextOf(videoLifecycle, video).renditions
      const events = Array.from({ length: Math.max(0, missing) }, () => ({ type: 'RENDITION_STORED' }) as const)
      if (events.length > 0 && takes(videoLifecycle, video, { type: 'RENDITION_STORED' })) advanceAndAnnounce(unit, video, events)
    })
  }

  /** The end of the ladder: publishes or updates the video, and removes the uploaded file unless the original is retained. */
  async function complete(task: Task): Promise<void> {
    await afterMaster(task, async ({ unit, video, transcoding }) => {
      const settings = settingsOf(deps)
      if (transcoding.state === 'packaged') advance(unit, transcodingLifecycle, transcoding, { type: 'STORED' }, settings)
      const { made } = contextOf(transcodingLifecycle, transcoding)
      const missing = Math.max(0, made - contextOf(videoLifecycle, video).renditions)
      const events = [...Array.from({ length: missing }, () => ({ type: 'RENDITION_STORED' }) as const), { type: 'TRANSCODED' } as const]
      if (takes(videoLifecycle, video, { type: 'TRANSCODED' })) advanceAndAnnounce(unit, video, events)
      advance(unit, transcodingLifecycle, transcoding, { type: 'FINISHED' }, settings)
      await pendingFiles.condemn(unit.query, await dropProvisional(unit, video))
      queueStoryboard(unit, video.id, config())
      if (config().transcoding.original_file.keep || task.keepSource || task.source === null) return
      await forgetOriginal(unit.query, task.videoId)
      await pendingFiles.condemn(unit.query, [{ kind: 'original_video_files', name: task.source }])
    })
  }

  /**
   * Writes the master where the video's privacy demands. If the privacy changed meanwhile, the files may have been moved before the master
   * existed: move them once more.
   */
  async function afterMaster(task: Task, work: (locked: Locked) => Promise<void>): Promise<void> {
    for (;;) {
      const master = await writeMaster(deps, task)
      const isRight = await withOwned(deps, task.id, task.owner, async (locked) => {
        const isPlaced = await master.settle(locked.unit)
        if (!isPlaced || hasPrivateFiles(locked.video) !== master.isPrivate) return false
        await work(locked)
        queueTorrents(locked.unit, task.videoId, config())
        return true
      })
      if (isRight) return
      // Another process is moving them: check again.
      await placeFiles.now(task.videoId).catch((error: unknown) => {
        if (!(error instanceof DomainError && error.kind === 'busy')) throw error
      })
    }
  }
}

/** True if the job timed out, false if the process is stopping. */
const isTimeOut = ({ aborted, reason }: AbortSignal): boolean => aborted && reason instanceof DOMException && reason.name === 'TimeoutError'

/** True if the video is removed, or another worker has the lease. */
const isLost = (error: unknown): boolean => error instanceof LeaseLost || (error instanceof DomainError && error.kind === 'not_found')

const summaryOf = ({ copied, encoded }: LadderPlan): string =>
  [...(copied ? [`${copied.resolution} copied`] : []), ...encoded.map(({ resolution }) => `${resolution}`)].join(', ')
