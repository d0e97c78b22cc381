// Moves all files between the file system and object storage, for operators that switch a server.

import { type Place, places } from '../../media/index.ts'
import type { Aliased, Columns } from '../../platform/database/index.ts'
import { advance, CHECK_OWNER_EVERY, DomainError, eachRow, type Unit } from '../runtime/index.ts'
import { storageIn, videoLifecycle } from '../video/index.ts'
import { Video } from '../video/video.entity.ts'
import { isKindOfItsOwn, kindsOfTheirOwn, makeMoveKind } from './move-kind.ts'
import { makeMoveVideo, type StorageMoveDeps } from './move-video.ts'
import type { StorageMove } from './storage-move.entity.ts'

export interface AskedMoves {
  /** Number of moved videos. */
  videos: number
  /** UUIDs of videos that stay until their failed transcoding is retried. */
  left: string[]
}

const JOBS = { 'object-storage': 'move-to-object-storage', 'file-system': 'move-to-file-system' } as const
const MOVING = { 'object-storage': 'to-move-to-external-storage', 'file-system': 'to-move-to-file-system' } as const
const ON_THE_WAY: readonly string[] = Object.values(MOVING).flatMap((state) => [state, `${state}-failed`])
/** Moved when that has ended. */
const BUSY: readonly string[] = ['to-transcode', 'to-edit']
/** States in which a move may be requested or retried. */
const MOVABLE = `(${['published', ...BUSY, ...ON_THE_WAY].map((state) => `'${state}'`).join(', ')})`
const IS_ON_THE_WAY = `o.state in (${ON_THE_WAY.map((state) => `'${state}'`).join(', ')})`

export type StorageMoves = ReturnType<typeof makeStorageMoves>

export function makeStorageMoves(deps: StorageMoveDeps) {
  const { db, tell, registry, store, preferred } = deps
  const moveVideoFiles = makeMoveVideo(deps)
  const moveKind = makeMoveKind(deps)

  for (const place of places) {
    registry.job(JOBS[place], {
      queue: 'io',
      async run({ data, signal }) {
        if (isKindOfItsOwn(data.kind)) await moveKind(data.kind, place, signal)
        else await moveVideoFiles.run(Number(data.videoId), place, signal)
      },
      async failed({ data }, error) {
        if (data.videoId !== undefined) await moveVideoFiles.giveUp(Number(data.videoId), error)
      },
      standsAlone: (data) => data.videoId === undefined,
    })
  }

  registry.timeout('video-move', {
    of: videoLifecycle,
    in: ['to-move-to-external-storage', 'to-move-to-file-system'],
    timedOut: (id) =>
      tell({ aggregate: 'video', id }, async (unit) => {
        const video = await unit.em.findOneOrFail(Video, id)
        const place = video.state === 'to-move-to-file-system' ? 'file-system' : 'object-storage'
        if (!video.state.startsWith('to-move') || video.state.endsWith('failed')) return
        advance(unit, videoLifecycle, video, { type: 'TIMED_OUT' })
        await note(unit, id, place)
      }),
  })

  // Ensures that a requested move has its job.
  registry.periodic('storage-moves', {
    everyMs: () => CHECK_OWNER_EVERY,
    async run() {
      const asked = await db.query<Aliased<typeof StorageMove, 'videoId' | 'target'>>(
        'select video_id as "videoId", target from storage_move order by created_at limit 100',
      )
      if (asked.length === 0) return
      await tell.create(async (unit) => {
        for (const { videoId, target } of asked) ask(unit, videoId, target === 1 ? 'object-storage' : 'file-system')
      })
    },
  })

  const ask = (unit: Unit, videoId: number, to: Place): void =>
    unit.enqueue({ type: JOBS[to], data: { videoId }, dedupeKey: `${JOBS[to]}-${videoId}` })

  async function note(unit: Unit, videoId: number, to: Place): Promise<void> {
    const isWanted = to === preferred
    await unit.query(
      `insert into storage_move (video_id, target, created_at) values ($1, $2, $3)
       on conflict (video_id) do update set target = excluded.target,
         created_at = case when storage_move.target = excluded.target then storage_move.created_at else excluded.created_at end,
         unwanted_since = case when storage_move.target = excluded.target and not $4 then storage_move.unwanted_since end`,
      [videoId, storageIn(to), unit.now, isWanted],
    )
    ask(unit, videoId, to)
  }

  async function askFor(videoId: number, to: Place): Promise<boolean> {
    return await tell({ aggregate: 'video', id: videoId }, async (unit) => {
      const video = await unit.em.findOneOrFail(Video, videoId)
      if (video.state === MOVING[to]) return false
      if (video.state === `${MOVING[to]}-failed`) advance(unit, videoLifecycle, video, { type: 'RETRIED' })
      else if (ON_THE_WAY.includes(video.state)) {
        // Files that were copied so far come back.
        if (!video.state.endsWith('-failed')) advance(unit, videoLifecycle, video, { type: 'MOVE_FAILED', error: 'It was taken back.' })
        advance(unit, videoLifecycle, video, {
          type: 'MOVE_REQUESTED',
          to: to === 'object-storage' ? 'external-storage' : to,
        })
      } else if (video.state !== 'published' && !BUSY.includes(video.state)) return false
      await note(unit, videoId, to)
      return true
    })
  }

  async function thoseLeft(videoIds: readonly number[] | undefined): Promise<string[]> {
    const left = await db.query<Columns<Video, 'uuid'>>(
      `select v.uuid from video v where v.state = 'transcoding-failed' and not v.remote
         and ($1::integer[] is null or v.id = any($1)) order by v.id`,
      [videoIds ?? null],
    )
    return left.map(({ uuid }) => uuid)
  }

  return {
    /**
     * Queues the move of all local videos, or of those named, and of all other files; jobs do it. Throws `invalid` unless new files go to
     * that place, so that moved files stay there.
     */
    async moveStorage({ to, videoIds }: { to: Place; videoIds?: readonly number[] }): Promise<AskedMoves> {
      if (to !== preferred) throw new DomainError('invalid', 'New files of this server go to another place.')
      let videos = 0
      await eachRow<{ id: number }>(
        {
          db,
          signal: new AbortController().signal,
          from: `from video o where not o.remote and o.state in ${MOVABLE} and ($1::integer[] is null or o.id = any($1))
            and (${IS_ON_THE_WAY} or exists (select 1 from video_file f where f.video_id = o.id and f.storage <> $2)
              or exists (select 1 from streaming_playlist p where p.video_id = o.id and p.storage <> $2)
              or exists (select 1 from video_source s where s.video_id = o.id and s.kept_filename is not null))`,
          values: [videoIds ?? null, storageIn(to)],
        },
        async ({ id }) => {
          if (await askFor(id, to)) videos += 1
        },
      )
      if (!videoIds) {
        await tell.create(async (unit) => {
          for (const kind of kindsOfTheirOwn) {
            if (store.only('object-storage', kind)) {
              unit.enqueue({ type: JOBS[to], data: { kind }, dedupeKey: `${JOBS[to]}-${kind}` })
            }
          }
        })
      }
      return { videos, left: await thoseLeft(videoIds) }
    },
  }
}
