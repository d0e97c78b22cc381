// Requests for editions of a video: validates the tasks, stores their files, and queues the job.

import {
  arrangeClips,
  type Ffmpeg,
  type FileRef,
  isRefusal,
  MediaError,
  type MediaProbe,
  measureWatermark,
  NothingLeft,
  probe,
  type Store,
  type TimelineTask,
} from '../../media/index.ts'
import type { Aliased, Sql } from '../../platform/database/index.ts'
import { newUuid } from '../../platform/ids.ts'
import { type ActorDeps, advance, DomainError, notFound, type Unit } from '../runtime/index.ts'
import type { Viewer } from '../session/index.ts'
import {
  assertMayChange,
  type Leases,
  overQuota,
  type PendingFiles,
  quotaLeft,
  refuseOverQuota,
  touch,
  videoLifecycle,
} from '../video/index.ts'
import { Video } from '../video/video.entity.ts'
import { growthOf } from './growth.ts'

/** A requested task; `path` is a local file that the caller gives up. Times in seconds. */
export type NewTask =
  | { name: 'cut'; start?: number | undefined; end?: number | undefined }
  | { name: 'add-intro' | 'add-outro' | 'add-watermark'; path: string }

interface Owned extends Aliased<Video, 'privacy' | 'blocked' | 'remote' | 'state' | 'isLive'> {
  ownerAccountId: number
  userId: number | null
  /** Seconds, from its files. */
  duration: number
  /** Bytes of its largest file. */
  bytes: number
  isTranscoded: boolean
}

/** A task as stored in the database. */
interface StoredTask {
  name: NewTask['name']
  start: number | null
  end: number | null
  filename: string | null
}

const OWNED = `
  select v.privacy, v.blocked, v.remote, v.state, v.is_live as "isLive", a.id as "ownerAccountId", a.user_id as "userId",
    greatest(v.duration, (select max((f.metadata->'format'->>'duration')::double precision) from video_file f
      where f.video_id = v.id and not f.outdated)) as duration,
    coalesce((select max(f.size) from video_file f where f.video_id = v.id), 0) as bytes,
    exists (select from transcoding t where t.video_id = v.id
      and t.state in ('planned', 'running', 'packaged', 'stored')) as "isTranscoded"
  from video v join channel c on c.id = v.channel_id join account a on a.id = c.account_id
  where v.id = $1 and v.state <> 'removed'`

export type Studio = ReturnType<typeof makeStudio>

export function makeStudio(deps: ActorDeps & { store: Store; ffmpeg: Ffmpeg; pendingFiles: PendingFiles; leases: Pick<Leases, 'owner'> }) {
  const { db, tell, config, store, ffmpeg, pendingFiles, leases } = deps

  /** In the transaction that locks the video, or before it. */
  async function find(query: Sql, videoId: number, by: NonNullable<Viewer>): Promise<Owned> {
    const [video] = await query<Owned>(OWNED, [videoId])
    if (!video) throw notFound('Video not found')
    assertMayChange(video, by, 'UPDATE_ANY_VIDEO')
    if (video.isLive) throw new DomainError('invalid', 'A live cannot be edited.')
    if (video.state !== 'published' || video.isTranscoded) {
      throw new DomainError('conflict', 'Cannot edit a video that is already waiting for transcoding or edition.')
    }
    return video
  }

  /** Probes the files. Throws `invalid` with each unusable one. */
  async function look(tasks: readonly NewTask[]): Promise<TimelineTask[]> {
    const bad: { index: number; error: MediaError }[] = []
    const known: TimelineTask[] = []
    for (const [index, task] of tasks.entries()) {
      const found = await lookAt(task).catch((error: unknown) => {
        if (!(error instanceof MediaError && isToBlame(error))) throw error
        bad.push({ index, error })
        return { name: 'add-watermark' } as const
      })
      known.push(found)
    }
    if (bad.length > 0) {
      throw new DomainError('invalid', 'The files of the tasks cannot be used.', {
        invalidParams: bad.map(({ index, error }) => ({
          name: `tasks[${index}][options][file]`,
          location: 'body' as const,
          msg: error.message,
        })),
      })
    }
    return known
  }

  async function lookAt(task: NewTask): Promise<TimelineTask> {
    switch (task.name) {
      case 'cut':
        return task
      case 'add-watermark':
        await measureWatermark(task.path)
        return { name: task.name }
      default:
        return { name: task.name, duration: lengthOf(await lookInto(task.path)) }
    }
  }

  const lookInto = (path: string): Promise<MediaProbe> => probe({ ffmpeg, path, timeoutMs: config().vireo.media.probe_timeout })

  async function insert(unit: Unit, videoId: number, tasks: readonly StoredTask[]): Promise<void> {
    const [edition] = await unit.query<{ id: number }>('insert into video_edition (video_id, created_at) values ($1, $2) returning id', [
      videoId,
      unit.now,
    ])
    if (!edition) throw new Error('The edition could not be stored.')
    await unit.query(
      `insert into video_edition_task (edition_id, position, name, start_at, end_at, filename)
       select $1, t.position, t.name, t.start, t."end", t.filename
       from rows from (jsonb_to_recordset($2) as (name text, start double precision, "end" double precision, filename text))
         with ordinality as t(name, start, "end", filename, position)`,
      [edition.id, JSON.stringify(tasks)],
    )
    queueEdition(unit, edition.id, config().vireo.jobs.priorities.video_studio)
  }

  return {
    /**
     * Checks that `by` may edit the video now; returns how many bytes its owner may add. Throws `not_found`, `forbidden`, `invalid` for
     * lives, and `conflict` while the video is being processed.
     */
    async check(videoId: number, by: NonNullable<Viewer>): Promise<{ left: number }> {
      const { userId } = await find(db.query, videoId, by)
      return { left: await quotaLeft(db, userId ?? 0) }
    },

    /**
     * Stores the edition with its job. Throws like `check`, `invalid` for the field of each impossible task, and `too_large` if its owner's
     * quota does not hold the result.
     */
    async request(videoId: number, by: NonNullable<Viewer>, tasks: readonly NewTask[]): Promise<void> {
      const { duration, bytes, userId } = await find(db.query, videoId, by)
      const known = await look(tasks)
      refuseNothing(duration, known)
      const growth = growthOf({ duration, bytes, tasks: known })
      if (growth > (await quotaLeft(db, userId ?? 0))) throw overQuota()

      const files = new Map(tasks.flatMap((task) => ('path' in task ? [[task, uploadOf()] as const] : [])))
      const refs = [...files.values()]
      await pendingFiles.reserve(leases.owner, refs)
      try {
        for (const [{ path }, ref] of files) await store.put(ref, { path })
        await tell({ aggregate: 'video', id: videoId }, async (unit) => {
          const video = await unit.em.findOneOrFail(Video, videoId)
          const owned = await find(unit.query, videoId, by)
          await refuseOverQuota(unit, owned.userId ?? 0, growth)
          advance(unit, videoLifecycle, video, { type: 'EDIT_REQUESTED' })
          touch(unit, video)
          await insert(
            unit,
            videoId,
            tasks.map((task) => toStored(task, 'path' in task ? files.get(task)?.name : undefined)),
          )
          await pendingFiles.settle(unit.query, refs)
        })
      } catch (error) {
        // The transaction may have been committed although its response was lost.
        const names = refs.map(({ name }) => name)
        const stored = await db.query('select 1 from video_edition_task where filename = any($1) limit 1', [names])
        if (stored.length === 0) await pendingFiles.discard(refs)
        throw error
      }
    },
  }
}

/** Queues the job of an edition, unless it waits or runs. */
export function queueEdition(unit: Unit, editionId: number, priority: number): void {
  unit.enqueue({
    type: 'video-studio-edition',
    data: { editionId },
    dedupeKey: `video-studio-edition-${editionId}`,
    priority,
  })
}

const uploadOf = (): FileRef => ({ kind: 'uploads', name: `${newUuid()}-studio` })

/** Files that make the tools fail count as invalid, like those that they refuse. */
const isToBlame = (error: MediaError): boolean => ['failed', 'stalled', 'memory', 'time-out'].includes(error.reason) || isRefusal(error)

function lengthOf({ video, duration }: MediaProbe): number {
  if (!video) throw new MediaError('no-streams', 'The file has no picture.')
  if (duration === 0) throw new MediaError('unreadable', 'The file does not say how long it is.')
  return duration
}

function refuseNothing(duration: number, tasks: readonly TimelineTask[]): void {
  try {
    arrangeClips(duration, tasks)
  } catch (error) {
    if (!(error instanceof NothingLeft)) throw error
    throw new DomainError('invalid', 'The tasks cannot be done.', {
      invalidParams: [{ name: 'tasks', location: 'body', msg: `The cut at ${error.task} leaves nothing of the video` }],
    })
  }
}

const toStored = (task: NewTask, filename: string | undefined): StoredTask =>
  task.name === 'cut'
    ? { name: task.name, start: task.start ?? null, end: task.end ?? null, filename: null }
    : { name: task.name, start: null, end: null, filename: filename ?? null }
