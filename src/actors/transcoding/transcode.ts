// The job `video-transcoding`: makes the renditions of a video. Killed at any line and run again it goes on from what was
// stored; two at once do not disturb each other, since only the one that holds the row's lease works.

import {
  type FileRef,
  isDiskFull,
  type LadderFile,
  type LadderPlan,
  type LadderSettings,
  MediaError,
  outlineOf,
  planLadder,
  probe,
  runLadder,
} from '../../media/index.ts'
import { newUuid } from '../../platform/ids.ts'
import {
  advance,
  contextOf,
  DomainError,
  holderOf,
  ifThere,
  type JobContext,
  makeRowLeases,
  PermanentFailure,
  takes,
} from '../runtime/index.ts'
import {
  askForStoryboard,
  askForTorrents,
  type DrawPictures,
  dropProvisional,
  hasPrivateFiles,
  moveAndTell,
  transcodingOwner,
  videoLifecycle,
  workFolder,
} from '../video/index.ts'
import { thumbnailTypes, Video } from '../video/video.entity.ts'
import { forgetOriginal } from '../video/video.writes.ts'
import { findSourceFile, isThere, type SourceFile, withSourceFile } from './source-file.ts'
import { makeStoreRenditions, NotOurs, withOwned } from './store-renditions.ts'
import { isActive, type TranscodingOutputs, transcodingLifecycle } from './transcoding.entity.ts'
import { askForTranscoding, planTranscoding } from './transcoding.writes.ts'
import { type Locked, settingsOf, type TranscodingDeps, withTranscoding } from './transcoding-state.ts'
import { type MasterTask, writeMaster } from './write-master.ts'

/** A transcoding in the hands of a worker. */
interface Task extends MasterTask {
  owner: string
  uuid: string
  /** The original in the store; null when it is gone already. */
  source: string | null
  /** What an administrator wants it to make; null for what the configuration says. */
  outputs: TranscodingOutputs | null
  /** Whether the original stays, whatever the configuration says. */
  keepSource: boolean
  /** Whether the video is published when all renditions are there, and not sooner. */
  waits: boolean
  /** The still under a sound file. */
  preview: string | null
}

/** How often the worker looks whether the video is still there, and shows that it lives, in ms at most. */
const BEAT_EVERY = 2_000

/** Adds the job, the time-out and the reactions of transcodings to the registry. */
export function makeTranscodings(deps: TranscodingDeps & DrawPictures): void {
  const { db, tell, registry, config, clock, logger, store, ffmpeg, pendingFiles, placeFiles, leases, drawPictures } = deps
  const storeRenditions = makeStoreRenditions(deps)
  const held = makeRowLeases({
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

  registry.job('video-transcoding', {
    queue: 'media',
    run: (job) => run(job),
    failed: ({ data }, error) => fail(Number(data.transcodingId), error),
  })

  registry.timeout('transcoding', {
    of: transcodingLifecycle,
    timedOut: (id) => withTranscoding(deps, id, async (locked) => noteSilence(locked)),
  })

  // A video that waits for renditions has a transcoding that makes them, whatever happened.
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
    const beat = held.startBeat(task)
    try {
      await transcode(task, AbortSignal.any([signal, beat.signal]), progress, log)
      log.info('transcoding done')
    } catch (error) {
      if (isTimeOut(signal)) throw new PermanentFailure('The transcoding took longer than a job may.', { cause: error })
      if (signal.aborted) throw error
      if (beat.signal.aborted || isLost(error) || !(await held.isOurs(task))) {
        log.info('transcoding given up: the video is gone, or another worker has it')
      } else if (isDiskFull(error)) {
        // What was made so far takes the room that it waits for.
        await pendingFiles.discard([workFolder('transcoding', task.id)])
        throw error
      } else if (error instanceof MediaError) {
        log.warn({ err: error, detail: error.detail }, 'transcoding failed')
        throw new PermanentFailure(error.message, { cause: error })
      } else throw error
    } finally {
      await beat.stop()
      await held.release(task)
      await pendingFiles.collect()
    }
  }

  /** Takes the transcoding; undefined when there is nothing to do, or a living worker is at it. */
  async function claim(id: number): Promise<Task | undefined> {
    const owner = held.newOwner()
    const claimed = await ifThere(
      withTranscoding(deps, id, async ({ unit, video, transcoding }) => {
        if (!isActive(transcoding.state) || held.isHeld(holderOf(transcoding))) return false
        const holder = transcoding.leaseOwner
        // A worker that ended with a goodbye took its name off; one that died did not.
        if (holder && transcoding.state !== 'planned') countLoss({ unit, video, transcoding })
        if (!isActive(transcoding.state)) return false
        transcoding.leaseOwner = owner
        transcoding.dueAt = held.end()
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

  /** The machine's `TIMED_OUT` while somebody worked; after too many losses the video's transcoding has failed. */
  function countLoss({ unit, video, transcoding }: Locked): void {
    const settings = settingsOf(deps)
    advance(unit, transcodingLifecycle, transcoding, { type: 'TIMED_OUT', settings, isLetGo: !transcoding.leaseOwner }, settings)
    transcoding.leaseOwner = null
    const error = transcoding.error
    if (transcoding.state === 'failed') tellVideoOfFailure({ unit, video, transcoding }, error ?? 'The worker was lost.')
  }

  function noteSilence(locked: Locked): void {
    const { unit, transcoding } = locked
    if (!transcoding.dueAt || transcoding.dueAt > unit.now) return
    countLoss(locked)
    if (isActive(transcoding.state)) askForTranscoding(unit, transcoding.id, config().vireo.jobs.priorities.transcoding)
  }

  function tellVideoOfFailure({ unit, video }: Locked, error: string): void {
    const event = { type: 'TRANSCODING_FAILED', error } as const
    if (takes(videoLifecycle, video, event)) advance(unit, videoLifecycle, video, event)
    // Of what was stored before.
    askForStoryboard(unit, video.id, config())
  }

  async function fail(id: number, error: string): Promise<void> {
    await withTranscoding(deps, id, async (locked) => {
      if (!takes(transcodingLifecycle, locked.transcoding, { type: 'FAILED', error })) return
      // What failed may be a worker that had lost it to another.
      held.refuseHeld(holderOf(locked.transcoding))
      advance(locked.unit, transcodingLifecycle, locked.transcoding, { type: 'FAILED', error }, settingsOf(deps))
      tellVideoOfFailure(locked, error)
    }).catch((cause: unknown) => {
      // The video was removed meanwhile: nobody waits for it any more.
      if (!(cause instanceof DomainError) || cause.kind !== 'not_found') throw cause
    })
    await pendingFiles.collect()
  }

  async function transcode(task: Task, signal: AbortSignal, progress: (percent: number) => void, log: typeof logger) {
    const work = workFolder('transcoding', task.id)
    await pendingFiles.reserve(transcodingOwner(task.id), [work])
    const done = await stored(task.id)
    if (!done) {
      const find = (): Promise<SourceFile> => findSourceFile(deps, { videoId: task.videoId, kept: task.source })
      const makeAll = (source: SourceFile): Promise<void> =>
        withSourceFile(deps, source, { id: task.id, signal }, (input) => make(task, { input, work, signal, progress, log }))
      const source = await find()
      await makeAll(source).catch(async (error: unknown) => {
        // A rendition that others are made of can be moved or taken away; an original cannot.
        const isTornAway = (await isThere(deps, source))
          ? error instanceof MediaError && error.reason === 'not-found'
          : task.source === null && error instanceof MediaError
        if (!isTornAway) throw error
        // The privacy changed just then, and the folder went away under the files: they are made once more.
        log.warn({ err: error }, 'files of a transcoding went missing')
        await makeAll(await find())
      })
    }
    signal.throwIfAborted()
    await complete(task)
    await pendingFiles.discard([work])
  }

  /** Whether all renditions are stored, and only the end is missing. */
  async function stored(id: number): Promise<boolean> {
    const [row] = await db.query<{ state: string }>('select state from transcoding where id = $1', [id])
    return row?.state === 'packaged' || row?.state === 'stored'
  }

  async function withStill<T>({ videoId, preview }: Task, fn: (path: string | undefined) => Promise<T>, signal: AbortSignal): Promise<T> {
    // The job that draws it may come later than this one.
    await drawPictures(videoId, signal)
    const ref: FileRef = { kind: 'previews', name: preview ?? '' }
    const exists = preview !== null && (await store.stat(ref)) !== undefined
    return exists ? await store.withLocalPath(ref, fn) : await fn(undefined)
  }

  interface Making {
    input: string
    work: FileRef
    signal: AbortSignal
    progress: (percent: number) => void
    log: typeof logger
  }

  async function make(task: Task, { input, work, signal, progress, log }: Making): Promise<void> {
    const { media } = config().vireo
    const found = await probe({ ffmpeg, path: input, signal, timeoutMs: media.probe_timeout })
    const plan = planLadder({
      probe: found,
      settings: settingsFor(task, config().transcoding),
      still: config().thumbnails.sizes[1],
      // The same when it is taken up again, or what was made would not fit.
      early: task.outputs === null && !task.waits,
    })
    // As after a change of the configuration: all would be encoded, and nothing kept of it.
    if (!plan.outputs.hls && !plan.outputs.webVideos) {
      throw new PermanentFailure('Neither HLS nor web videos are made on this server.')
    }
    const total = plan.encoded.length + (plan.copied ? 1 : 0)
    const made = await begin(task, { total, plan: outlineOf(plan) })
    log.info({ renditions: summaryOf(plan), made }, 'transcoding started')
    // A crash may have come between the rows of a step and the notice of it.
    if (made > 0) await tellOfStored(task)
    if (made >= total) return
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
          await tellOfStored(task)
        },
      })
    await (found.video ? encode() : withStill(task, encode, signal))
  }

  /** Says which renditions there will be; answers how many are stored already. */
  async function begin(task: Task, { total, plan }: { total: number; plan: string }): Promise<number> {
    return await withOwned(deps, task.id, task.owner, async ({ unit, transcoding }) => {
      const before = contextOf(transcodingLifecycle, transcoding)
      const settings = settingsOf(deps)
      // After a change of the configuration or of the wish to wait the ladder is another one, and is made from the start.
      const isSame = before.plan === plan
      const made = isSame ? before.made : 0
      if (transcoding.state === 'running' && !isSame) {
        advance(unit, transcodingLifecycle, transcoding, { type: 'TIMED_OUT', settings, isLetGo: true }, settings)
      }
      if (transcoding.state === 'planned') {
        advance(unit, transcodingLifecycle, transcoding, { type: 'STARTED', total, made, plan }, settings)
        if (made === total) advance(unit, transcodingLifecycle, transcoding, { type: 'PACKAGED' }, settings)
      }
      return made
    })
  }

  /** Renews the master playlist, then lets the video know of each rendition that can be played. */
  async function tellOfStored(task: Task): Promise<void> {
    await afterMaster(task, async ({ unit, video, transcoding }) => {
      const { made, total } = contextOf(transcodingLifecycle, transcoding)
      // With the last rendition the end of the ladder tells all at once.
      const missing = made === total ? 0 : made - contextOf(videoLifecycle, video).renditions
      const events = Array.from({ length: Math.max(0, missing) }, () => ({ type: 'RENDITION_STORED' }) as const)
      if (events.length > 0 && takes(videoLifecycle, video, { type: 'RENDITION_STORED' })) moveAndTell(unit, video, events)
    })
  }

  /** The end of the ladder: the video is published or updated, and the uploaded file goes unless the original is to be kept. */
  async function complete(task: Task): Promise<void> {
    await afterMaster(task, async ({ unit, video, transcoding }) => {
      const settings = settingsOf(deps)
      if (transcoding.state === 'packaged') advance(unit, transcodingLifecycle, transcoding, { type: 'STORED' }, settings)
      const { made } = contextOf(transcodingLifecycle, transcoding)
      const missing = Math.max(0, made - contextOf(videoLifecycle, video).renditions)
      const events = [...Array.from({ length: missing }, () => ({ type: 'RENDITION_STORED' }) as const), { type: 'TRANSCODED' } as const]
      if (takes(videoLifecycle, video, { type: 'TRANSCODED' })) moveAndTell(unit, video, events)
      advance(unit, transcodingLifecycle, transcoding, { type: 'FINISHED' }, settings)
      await pendingFiles.condemn(unit.query, await dropProvisional(unit, video))
      askForStoryboard(unit, video.id, config())
      if (config().transcoding.original_file.keep || task.keepSource || task.source === null) return
      await forgetOriginal(unit.query, task.videoId)
      await pendingFiles.condemn(unit.query, [{ kind: 'original_video_files', name: task.source }])
    })
  }

  /**
   * Writes the master where the video's privacy wants it. When that changed meanwhile, whoever moved the files may have
   * come before the master was there: they are moved once more.
   */
  async function afterMaster(task: Task, work: (locked: Locked) => Promise<void>): Promise<void> {
    for (;;) {
      const master = await writeMaster(deps, task)
      const isRight = await withOwned(deps, task.id, task.owner, async (locked) => {
        const isPlaced = await master.settle(locked.unit)
        if (!isPlaced || hasPrivateFiles(locked.video) !== master.isPrivate) return false
        await work(locked)
        askForTorrents(locked.unit, task.videoId, config())
        return true
      })
      if (isRight) return
      // Somebody else moves them: it is looked at again.
      await placeFiles.now(task.videoId).catch((error: unknown) => {
        if (!(error instanceof DomainError && error.kind === 'busy')) throw error
      })
    }
  }
}

/** Whether the job's longest run was over, and not the process. */
const isTimeOut = ({ aborted, reason }: AbortSignal): boolean => aborted && reason instanceof DOMException && reason.name === 'TimeoutError'

/** The video is gone, or the row is another worker's. */
const isLost = (error: unknown): boolean => error instanceof NotOurs || (error instanceof DomainError && error.kind === 'not_found')

/** The configuration as the transcoding wants it. What is made of a rendition keeps that one's size, or it would be lost. */
function settingsFor({ outputs, source }: Task, configured: LadderSettings): LadderSettings {
  if (outputs === null) return configured
  return {
    ...configured,
    always_transcode_original_resolution: configured.always_transcode_original_resolution || source === null,
    hls: { ...configured.hls, enabled: outputs !== 'web-video' },
    web_videos: { enabled: outputs !== 'hls' },
  }
}

const summaryOf = ({ copied, encoded }: LadderPlan): string =>
  [...(copied ? [`${copied.resolution} copied`] : []), ...encoded.map(({ resolution }) => `${resolution}`)].join(', ')
