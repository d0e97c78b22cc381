// The jobs of copies: `video-redundancy` makes one from a remote server's files, `redundancy-removal` deletes ended ones. A download can be
// killed and resumes after the complete files.

import { type FileRef, isDiskFull, mirrorFile, mirrorHls, type Store } from '../../media/index.ts'
import type { Columns } from '../../platform/database/index.ts'
import type { GuardedFetch } from '../../platform/fetch/index.ts'
import {
  type ActorDeps,
  advance,
  contextOf,
  DomainError,
  holderOf,
  ifThere,
  ignoreNotFound,
  type JobContext,
  type LeasedRow,
  makeRowLeases,
  PermanentFailure,
  takes,
} from '../runtime/index.ts'
import { type Leases, type PendingFile, type PendingFiles, redundancyOwner } from '../video/index.ts'
import { endWithFollow, mustBeRemoved } from './end-of-follow.ts'
import type { Redundancies } from './redundancy.commands.ts'
import { Redundancy } from './redundancy.entity.ts'
import { redundancyLifecycle, settingsOf } from './redundancy-state.ts'

export type DownloadDeps = ActorDeps & {
  http: Pick<GuardedFetch, 'stream'>
  store: Store
  pendingFiles: PendingFiles
  leases: Leases
  redundancies: Pick<Redundancies, 'remove'>
  instanceActorId: () => Promise<number>
}

/** A copy that a worker has leased. */
interface Task extends LeasedRow {
  path: string
  strategy: string | null
  isPlaylist: boolean
  /** Master playlist or file of the video's server. */
  source: string | null
  /** Bytes by address, as its server reported. */
  files: { url: string | null; size: number }[]
}

/** How often at most the worker renews its lease and checks that the copy is still wanted, in ms. */
const BEAT_EVERY = 2_000
const MAX_PLAYLISTS = 100
const MAX_FILES = 20_000
/** Tolerance of the reported size, for playlists and rounding: a share of it, and bytes. */
const SLACK = { part: 0.05, bytes: 10 * 1024 * 1024 }

/** Registers the jobs. */
export function downloadRedundancies(deps: DownloadDeps): void {
  const { db, tell, registry, config, clock, logger, http, store, pendingFiles, leases, redundancies, instanceActorId } = deps
  const rowLeases = makeRowLeases({
    db,
    clock,
    logger,
    leases,
    length: () => settingsOf(deps).lease,
    beatEvery: BEAT_EVERY,
    table: 'redundancy',
    until: 'due_at',
    active: "x.state = 'downloading'",
  })

  endWithFollow(deps)

  registry.job('video-redundancy', {
    queue: 'media',
    run: (job) => run(job),
    failed: ({ data }, error) => fail(Number(data.redundancyId), error),
  })

  registry.job('redundancy-removal', {
    queue: 'io',
    async run({ data, signal }) {
      if (data.hostId === undefined) await clear(Number(data.redundancyId))
      else await removeOfHost(Number(data.hostId), signal)
    },
  })

  async function run({ data, signal, progress }: JobContext): Promise<void> {
    const task = await claim(Number(data.redundancyId))
    if (!task) return
    const log = logger.child({ redundancy: task.id })
    const beat = rowLeases.startHeartbeat(task)
    try {
      const size = await download(task, AbortSignal.any([signal, beat.signal]), progress)
      await finish(task, size)
      log.info({ size }, 'a copy of a video is stored')
    } catch (error) {
      const isFull = isDiskFull(error)
      if (isFull) await noteFullDisk()
      if (signal.aborted || !(beat.signal.aborted || isGone(error) || !(await rowLeases.holds(task)))) {
        // Copies are optional: none waits for space.
        throw isFull && !signal.aborted ? new PermanentFailure('There is no room for the copy.', { cause: error }) : error
      }
      log.info('a copy is no longer wanted')
    } finally {
      await beat.stop()
      await release(task)
    }
  }

  /** Leases the copy; undefined if there is nothing to do or a living worker has the lease. */
  async function claim(id: number): Promise<Task | undefined> {
    const settings = settingsOf(deps)
    const owner = await withCopy(id, (unit, row) =>
      rowLeases.claim({
        row,
        waiting: 'wanted',
        working: 'downloading',
        move: (type) => void advance(unit, redundancyLifecycle, row, { type, settings }, settings),
      }),
    )
    if (owner === undefined) return undefined
    const [row] = await db.query<Omit<Task, 'owner'>>(
      `select r.id, r.path, r.strategy, p.id is not null as "isPlaylist", coalesce(p.playlist_url, o.file_url) as source,
         (select coalesce(jsonb_agg(jsonb_build_object('url', f.file_url, 'size', f.size)), '[]') from video_file f
          where f.streaming_playlist_id = r.streaming_playlist_id or f.id = r.file_id) as files
       from redundancy r left join streaming_playlist p on p.id = r.streaming_playlist_id
         left join video_file o on o.id = r.file_id
       where r.id = $1 and r.path is not null`,
      [id],
    )
    return row && { ...row, owner }
  }

  async function download(task: Task, signal: AbortSignal, onProgress: (percent: number) => void): Promise<number> {
    const { id, source, files } = task
    if (source === null) throw new DomainError('unprocessable', 'The video has no address to be copied from.')
    const { video_file_timeout, max_mirror_size } = config().vireo.federation.fetch
    await pendingFiles.reserve(redundancyOwner(id), [placeOf(task)])
    const announced = files.reduce((sum, { size }) => sum + size, 0)
    const most = Math.min(max_mirror_size, await roomFor(task))
    const maxBytes = announced > 0 ? Math.min(most, Math.ceil(announced * (1 + SLACK.part)) + SLACK.bytes) : most
    if (announced > most) throw new DomainError('too_large', 'The video is larger than copies may be.')
    const remote = { http, store, signal, silenceMs: video_file_timeout }
    if (!task.isPlaylist) {
      return await mirrorFile({ ...remote, target: placeOf(task), url: source, size: files[0]?.size ?? 0, maxBytes })
    }
    const sizes = files.flatMap(({ url, size }) => (url === null ? [] : [[new URL(url).href, size] as const]))
    return await mirrorHls({
      ...remote,
      onProgress,
      masterUrl: source,
      folder: placeOf(task),
      sizes: new Map(sizes),
      limits: { maxBytes, maxPlaylists: MAX_PLAYLISTS, maxFiles: MAX_FILES },
    })
  }

  /** Remaining bytes of its strategy for this copy. */
  async function roomFor({ id, strategy }: Task): Promise<number> {
    const limits = config().redundancy.videos.strategies.find((one) => one.strategy === strategy)
    if (!limits) return Number.POSITIVE_INFINITY
    const [others] = await db.query<{ bytes: number }>(
      `select coalesce(sum(size), 0)::float8 as bytes from redundancy
       where strategy = $1 and path is not null and state <> 'failed' and id <> $2`,
      [strategy, id],
    )
    return Math.max(0, limits.size - (others?.bytes ?? 0))
  }

  /** Pauses all strategies for a while. */
  async function noteFullDisk(): Promise<void> {
    await db
      .query('update redundancy_strategy set full_at = $1', [clock.now()])
      .catch((error) => logger.warn({ err: error }, 'a full disk could not be noted'))
  }

  async function finish(task: Task, size: number): Promise<void> {
    await withCopy(task.id, async (unit, copy) => {
      if (copy.leaseOwner !== task.owner || copy.state !== 'downloading') {
        throw new DomainError('gone', 'Another worker has the lease of this copy.')
      }
      copy.size = size
      copy.sourceUrl = task.source
      const { lifetime } = contextOf(redundancyLifecycle, copy)
      copy.expiresOn = lifetime === null ? null : new Date(unit.now.getTime() + lifetime)
      await pendingFiles.settle(unit.query, [placeOf(task)])
      advance(unit, redundancyLifecycle, copy, { type: 'STORED' }, settingsOf(deps))
    })
  }

  async function fail(id: number, error: string): Promise<void> {
    await ignoreNotFound(
      withCopy(id, async (unit, copy) => {
        const event = { type: 'FAILED', error } as const
        if (!takes(redundancyLifecycle, copy, event)) return
        rowLeases.refuseLeased(holderOf(copy))
        advance(unit, redundancyLifecycle, copy, event, settingsOf(deps))
      }),
    )
    await pendingFiles.collect()
  }

  /** Deletes the files of an ended copy with its row. */
  async function clear(id: number): Promise<void> {
    await ignoreNotFound(
      withCopy(id, async (unit, copy) => {
        if (copy.state !== 'expiring') return
        // A worker that has not noticed the end may still write.
        const heardAt = copy.updatedAt.getTime() + settingsOf(deps).lease
        if (copy.leaseOwner && !leases.isGone(copy.leaseOwner) && heardAt > unit.now.getTime()) {
          throw new DomainError('busy', 'A worker is still at this copy.')
        }
        copy.leaseOwner = null
        advance(unit, redundancyLifecycle, copy, { type: 'CLEARED' }, settingsOf(deps))
      }),
    )
    await pendingFiles.collect()
  }

  async function removeOfHost(hostId: number, signal: AbortSignal): Promise<void> {
    const copies = await db.query<Columns<Redundancy, 'id'>>(
      `select r.id from remote_host h join actor x on x.host_id = h.id join channel c on c.actor_id = x.id
         join video v on v.channel_id = c.id join redundancy r on r.video_id = v.id
       where h.id = $1 and ${mustBeRemoved('$2')} and r.path is not null and r.state <> 'expiring' order by r.id`,
      [hostId, await instanceActorId()],
    )
    for (const { id } of copies) {
      signal.throwIfAborted()
      await ignoreNotFound(redundancies.remove(id))
    }
  }

  /** Releases the lease. Files written for a copy whose row was deleted meanwhile are removed. */
  async function release(task: Task): Promise<void> {
    await rowLeases.release(task)
    try {
      const rows = await db.query('select 1 from redundancy where path = $1', [task.path])
      if (rows.length === 0) await pendingFiles.discard([placeOf(task)])
    } catch (error) {
      logger.warn({ err: error, redundancy: task.id }, 'the files of a copy are left for later')
    }
  }

  async function withCopy<T>(
    id: number,
    work: (unit: Parameters<Parameters<typeof tell>[1]>[0], copy: Redundancy) => Promise<T>,
  ): Promise<T | undefined> {
    return await ifThere(tell({ aggregate: 'redundancy', id }, async (unit) => work(unit, await unit.em.findOneOrFail(Redundancy, id))))
  }
}

const placeOf = ({ path, isPlaylist }: Pick<Task, 'path' | 'isPlaylist'>): PendingFile & FileRef => ({
  kind: 'redundancy',
  name: path,
  folder: isPlaylist,
})

const isGone = (error: unknown): boolean => error instanceof DomainError && error.kind === 'gone'
