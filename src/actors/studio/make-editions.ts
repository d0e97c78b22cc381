// The job `video-studio-edition`: makes the edited file of a video, or offers that to remote runners, and replaces the previous one. It can
// be killed and run again; then it starts again, or continues from a finished file. Concurrent runs are safe, since only the holder of the
// row's lease works.

import { parse } from 'node:path'
import { afterAnother, type EditTask, editVideo, type FileRef, isDiskFull, type Retiming, retimeWebVtt } from '../../media/index.ts'
import type { Columns, Sql } from '../../platform/database/index.ts'
import { newUuid } from '../../platform/ids.ts'
import type { VideoCaption } from '../caption/caption.entity.ts'
import { isForRunners } from '../runner/index.ts'
import {
  advance,
  cancelRunnerJob,
  ignoreNotFound,
  type JobContext,
  LeaseLost,
  makeRowLeases,
  PermanentFailure,
  type Unit,
} from '../runtime/index.ts'
import { findSourceFile, isThere, type SourceFile } from '../transcoding/index.ts'
import {
  advanceAndAnnounce,
  editionOwner,
  type FileDraft,
  pendingRetiming,
  type Retimed,
  type RetimedCaption,
  refuseOverQuota,
  videoLifecycle,
  workFolder,
} from '../video/index.ts'
import { Video } from '../video/video.entity.ts'
import { type Edition, type EditionDeps, type Inputs, isFinal, type Made, type Task } from './edition.ts'
import { makeRemoteEditions } from './remote-editions.ts'
import { REMOTE_TYPE } from './remote-jobs.ts'
import { queueEdition } from './studio.commands.ts'

/** How often at most the worker renews its lease and checks that the video still exists, in ms. */
const BEAT_EVERY = 2_000
/** How often the files of the video may be moved during the work. */
const TRIES = 3

/** Registers the job, its timeout, and the kind of work of remote runners. */
export function makeEditions(deps: EditionDeps): void {
  const { db, tell, registry, config, clock, logger, store, ffmpeg, pendingFiles, leases, inspectFile, replaceSource } = deps
  const rowLeases = makeRowLeases({
    db,
    clock,
    logger,
    leases,
    length: () => config().vireo.jobs.lease,
    beatEvery: BEAT_EVERY,
    table: 'video_edition',
    until: 'lease_until',
    active: "exists (select from video v where v.id = x.video_id and v.state = 'to-edit')",
  })

  registry.job('video-studio-edition', {
    queue: 'media',
    run: (job) => run(job),
    failed: ({ data }, error) => fail(Number(data.editionId), error),
  })

  const remote = makeRemoteEditions({ ...deps, rowLeases, find, claim, withOwned, withInputs, sourceOf, storeResult, fail })

  // Ensures that a video that waits for its edition has a job.
  registry.timeout('video-edition', {
    of: videoLifecycle,
    in: ['to-edit'],
    timedOut: (id) =>
      tell({ aggregate: 'video', id }, async (unit) => {
        const video = await unit.em.findOneOrFail(Video, id)
        if (video.state !== 'to-edit') return
        const [edition] = await unit.query<{ id: number }>('select id from video_edition where video_id = $1', [id])
        if (!edition) return advanceAndAnnounce(unit, video, [{ type: 'EDIT_FAILED', error: 'The edition does not exist any more.' }])
        advance(unit, videoLifecycle, video, { type: 'TIMED_OUT' })
        queueEdition(unit, edition.id, config().vireo.jobs.priorities.video_studio)
      }),
  })

  async function run({ data, signal, progress }: JobContext): Promise<void> {
    const task = await claim(Number(data.editionId))
    if (!task) return
    const log = logger.child({ edition: task.id, video: task.uuid })
    const beat = rowLeases.startHeartbeat(task)
    try {
      const owned = AbortSignal.any([signal, beat.signal])
      if (await isForRunners(deps.db, deps, config().video_studio.remote_runners.enabled)) {
        await remote.offer(task, owned)
        log.info('edition offered to remote runners')
      } else {
        await edit(task, owned, progress, log)
        log.info('edition done')
      }
    } catch (error) {
      if (signal.aborted) throw error
      if (beat.signal.aborted || error instanceof LeaseLost || !(await rowLeases.holds(task))) {
        log.info('edit cancelled: the video was deleted, or another worker has it')
      } else if (isFinal(error)) {
        log.warn({ err: error }, 'edition failed')
        throw new PermanentFailure(error.message, { cause: error })
      } else {
        // The work files occupy the space that the job waits for.
        if (isDiskFull(error)) await pendingFiles.discard([workFolder('studio', task.id)])
        throw error
      }
    } finally {
      await beat.stop()
      await rowLeases.release(task)
      await pendingFiles.collect()
    }
  }

  /** Leases the edition; undefined if it has ended, or if a living worker has the lease. */
  async function claim(id: number): Promise<Task | undefined> {
    const owner = rowLeases.newOwner()
    const holder = await holderOf(db.query, id)
    if (!holder || rowLeases.isLeased(holder)) return undefined
    const claimed = await db.query(
      `update video_edition set lease_owner = $2, lease_until = $3
       where id = $1 and lease_owner is not distinct from $4 returning id`,
      [id, owner, rowLeases.end(), holder.owner],
    )
    if (claimed.length === 0) return undefined
    const edition = await find(id)
    return edition && { owner, ...edition }
  }

  async function find(id: number): Promise<Edition | undefined> {
    const [row] = await db.query<Edition>(
      `select e.id, v.id as "videoId", v.uuid, s.kept_filename as kept, coalesce(s.resolution = 0, false) as "isSound",
         coalesce(s.input_filename, v.uuid::text) as "inputFilename",
         (select jsonb_agg(jsonb_build_object('name', t.name, 'start', t.start_at, 'end', t.end_at, 'filename', t.filename)
            order by t.position) from video_edition_task t where t.edition_id = e.id) as tasks
       from video_edition e join video v on v.id = e.video_id left join video_source s on s.video_id = v.id where e.id = $1`,
      [id],
    )
    return row
  }

  async function edit(task: Task, signal: AbortSignal, onProgress: (percent: number) => void, log: typeof logger): Promise<void> {
    await withOwned(task, (unit) => cancelRunnerJob(unit, REMOTE_TYPE, task.videoId))
    const work = workFolder('studio', task.id)
    await pendingFiles.reserve(editionOwner(task.id), [work])
    const made = await make(task, { workFolder: await store.workFolder(work.name), signal, onProgress, log })
    signal.throwIfAborted()
    await storeResult(task, made, signal)
    await pendingFiles.discard([work])
  }

  async function storeResult(task: Task, made: Made, signal: AbortSignal, done?: (unit: Unit) => Promise<void>): Promise<void> {
    const { videoId, inputFilename } = task
    const draft = await replaceSource.inspect({ videoId, inputFilename: `${parse(inputFilename).name}.mp4`, path: made.path })
    await pendingFiles.reserve(leases.owner, [draft.place])
    const captions: RetimedCaption[] = []
    try {
      const retiming = made.retiming && (await sinceNow(task, made.retiming))
      if (retiming) await writeCaptions(task, retiming, captions)
      signal.throwIfAborted()
      await inspectFile.place(draft, made.path)
      await finish(task, draft, retiming && { retiming, captions }, done)
    } catch (error) {
      await discardUnlessStored(draft, captions)
      throw error
    }
  }

  interface Making {
    workFolder: string
    signal: AbortSignal
    onProgress: (percent: number) => void
    log: typeof logger
  }

  /** Repeats if a change of the privacy moves the files of the video. */
  async function make(task: Task, making: Making, tries = 1): ReturnType<typeof editVideo> {
    const source = await sourceOf(task)
    try {
      return await makeOf(task, source, making)
    } catch (error) {
      if (making.signal.aborted || tries === TRIES || (await isThere(deps, source))) throw error
      return await make(task, making, tries + 1)
    }
  }

  /** Renditions of a sound file show a still, which pictures can be placed on. */
  async function sourceOf({ videoId, kept, isSound, tasks }: Edition): Promise<SourceFile> {
    const isCut = tasks.every(({ name }) => name === 'cut')
    return await findSourceFile(deps, { videoId, kept: isSound && !isCut ? null : kept })
  }

  async function makeOf(task: Task, source: SourceFile, { workFolder, signal, onProgress, log }: Making) {
    const { transcoding, vireo } = config()
    return await withInputs(task, source, signal, (inputs) =>
      editVideo({
        ...inputs,
        ffmpeg,
        workFolder,
        signal,
        onProgress,
        maxFps: transcoding.fps.max,
        threads: transcoding.threads,
        limits: { stallMs: vireo.media.stall_timeout, maxMemoryBytes: vireo.media.max_memory },
        probeTimeoutMs: vireo.media.probe_timeout,
        niceness: vireo.media.nice,
        onStart: ({ pid, plan }) => log.info({ pid, clips: plan.clips.length, seconds: plan.duration }, 'ffmpeg started'),
      }),
    )
  }

  async function withInputs<T>(task: Task, source: SourceFile, signal: AbortSignal, work: (inputs: Inputs) => Promise<T>): Promise<T> {
    const files = task.tasks.flatMap(({ filename }): FileRef[] => (filename === null ? [] : [{ kind: 'uploads', name: filename }]))
    const refs = [source.picture, source.sound ?? source.picture, ...files]
    return await withPaths({ refs, signal }, ([picture = '', sound = '', ...paths]) => {
      const pathOf = new Map(files.map(({ name }, index) => [name, paths[index] ?? '']))
      const tasks = task.tasks.map(
        ({ name, start, end, filename }): EditTask =>
          name === 'cut' ? { name, start: start ?? undefined, end: end ?? undefined } : { name, path: pathOf.get(filename ?? '') ?? '' },
      )
      return work({ picture, sound, tasks })
    })
  }

  /** Paths that are valid while `work` runs. */
  async function withPaths<T>(
    { refs, signal }: { refs: readonly FileRef[]; signal: AbortSignal },
    work: (paths: string[]) => Promise<T>,
    paths: string[] = [],
  ): Promise<T> {
    const ref = refs[paths.length]
    if (!ref) return await work(paths)
    return await store.withLocalPath(ref, (path) => withPaths({ refs, signal }, work, [...paths, path]), signal)
  }

  /** Maps the playing version to the new file. An edition whose renditions could not be made was never visible. */
  async function sinceNow({ videoId }: Task, retiming: Retiming): Promise<Retiming> {
    const before = await pendingRetiming(db, videoId)
    return before ? afterAnother(before, retiming) : retiming
  }

  async function writeCaptions({ videoId }: Task, retiming: Retiming, written: RetimedCaption[]): Promise<void> {
    const captions = await db.query<Columns<typeof VideoCaption, 'language' | 'filename'>>(
      'select language, filename from video_caption where video_id = $1 order by id',
      [videoId],
    )
    for (const { language, filename } of captions) {
      const ref: FileRef = { kind: 'captions', name: filename }
      if ((await store.stat(ref)) === undefined) continue
      const text = await retimeWebVtt(await bytesOf(ref), retiming)
      const name = `${newUuid()}-${language}.vtt`
      await pendingFiles.reserve(leases.owner, [{ kind: 'captions', name }])
      written.push({ filename: name, replaces: filename })
      await store.put({ kind: 'captions', name }, Buffer.from(text))
    }
  }

  async function bytesOf(ref: FileRef): Promise<Buffer> {
    const { stream } = await store.open(ref)
    return Buffer.concat(await stream.toArray())
  }

  /** Runs `work` in a transaction if this worker still holds the lease. Throws `LeaseLost` if it does not. */
  async function withOwned({ id, owner, videoId }: Task, work: (unit: Unit, video: Video) => Promise<void>): Promise<void> {
    await tell({ aggregate: 'video', id: videoId }, async (unit) => {
      const [edition] = await unit.query('select 1 from video_edition where id = $1 and lease_owner = $2', [id, owner])
      const video = await unit.em.findOne(Video, videoId)
      if (!edition || video?.state !== 'to-edit') throw new LeaseLost('Another worker has this edition.')
      await work(unit, video)
    })
  }

  async function finish(task: Task, draft: FileDraft, retimed: Retimed | undefined, done?: (unit: Unit) => Promise<void>): Promise<void> {
    await withOwned(task, async (unit, video) => {
      await unit.query('delete from video_edition where id = $1', [task.id])
      await refuseGrowth(unit, task.videoId, draft.probe.size)
      await pendingFiles.settle(unit.query, refsOf(retimed?.captions ?? []))
      await replaceSource.edited(unit, video, draft, retimed)
      const { id: editionId, videoId } = task
      unit.emit({ aggregate: 'video', id: videoId }, 'VideoEdited', { videoId, editionId })
      await done?.(unit)
    })
  }

  /** The growth of the file must be within the owner's quota. */
  async function refuseGrowth(unit: Unit, videoId: number, size: number): Promise<void> {
    const [before] = await unit.query<{ userId: number | null; bytes: number }>(
      `select a.user_id as "userId", coalesce(greatest(
           (select s.size from video_source s where s.video_id = v.id and s.kept_filename is not null),
           (select max(f.size) from video_file f where f.video_id = v.id)), 0) as bytes
       from video v join channel c on c.id = v.channel_id join account a on a.id = c.account_id where v.id = $1`,
      [videoId],
    )
    const growth = size - (before?.bytes ?? 0)
    if (growth > 0) await refuseOverQuota(unit, before?.userId ?? 0, growth)
  }

  /** If the response of a commit was lost, the rows may exist: then the notes of the files were deleted with it. */
  async function discardUnlessStored(draft: FileDraft, captions: readonly RetimedCaption[]): Promise<void> {
    const { kind, name } = draft.place
    const noted = await db.query('select 1 from pending_file where kind = $1 and name = $2', [kind, name])
    if (noted.length === 0) return
    await inspectFile.discard(draft, { source: true })
    await pendingFiles.discard(refsOf(captions))
  }

  /** The old files keep playing, and the uploaded files of the edition are removed. */
  async function fail(id: number, error: string): Promise<void> {
    const [edition] = await db.query<{ videoId: number }>('select video_id as "videoId" from video_edition where id = $1', [id])
    if (!edition) return
    await ignoreNotFound(
      tell({ aggregate: 'video', id: edition.videoId }, async (unit) => {
        const holder = await holderOf(unit.query, id, 'for update')
        if (!holder) return
        rowLeases.refuseLeased(holder)
        await unit.query('delete from video_edition where id = $1', [id])
        await cancelRunnerJob(unit, REMOTE_TYPE, edition.videoId)
        const video = await unit.em.findOneOrFail(Video, edition.videoId)
        if (video.state === 'to-edit') advanceAndAnnounce(unit, video, [{ type: 'EDIT_FAILED', error }])
      }),
    )
    await pendingFiles.collect()
  }
}

async function holderOf(
  query: Sql,
  id: number,
  lock: 'for update' | '' = '',
): Promise<{ owner: string | null; until: Date | null } | undefined> {
  const [holder] = await query<{ owner: string | null; until: Date | null }>(
    `select lease_owner as owner, lease_until as until from video_edition where id = $1 ${lock}`,
    [id],
  )
  return holder
}

const refsOf = (captions: readonly RetimedCaption[]): FileRef[] => captions.map(({ filename }) => ({ kind: 'captions', name: filename }))
