// Encodes the renditions of lives: a lane for each session reads the log of its pieces, and makes all renditions of one piece after the
// other. A process that is killed is followed by another one, which begins with the piece in hand.

import {
  type EncodedPiece,
  encodePiece,
  type Ffmpeg,
  hlsFile,
  type LivePlan,
  MediaError,
  type MediaErrorReason,
  pieceName,
  type Store,
} from '../../media/index.ts'
import type { Aliased, Columns } from '../../platform/database/index.ts'
import { newUuid } from '../../platform/ids.ts'
import type { ActorDeps } from '../runtime/index.ts'
import { type Leases, type PendingFiles, workFolder } from '../video/index.ts'
import type { LivePiece } from './live.entity.ts'
import { withSession } from './live.lifecycle.ts'
import { storeOfPieces } from './store-of-pieces.ts'

const LANE = 'live-encoding'
/** In one process. Each stream needs its encoder now; `live.max_instance_lives` limits how many there are. */
const STREAMS_AT_ONCE = 100
/** An encoder that is slower than the stream must not lose the window of the source's playlist: by this many pieces it skips before. */
const LEFT_IN_WINDOW = 3
/** Faults of one piece. Others are of this server, and go away. */
const OF_THE_PIECE: readonly MediaErrorReason[] = ['failed', 'memory', 'not-found', 'stalled']

/** A piece to encode. */
interface Next extends Aliased<typeof LivePiece, 'sequence' | 'isPrivate'> {
  plan: LivePlan
  uuid: string
  /** Pieces that were received after it. */
  waiting: number
}

/** Registers the lane. */
export function encodeRenditions(deps: ActorDeps & { store: Store; ffmpeg: Ffmpeg; pendingFiles: PendingFiles; leases: Leases }): void {
  const { db, registry, config, logger, store, ffmpeg, pendingFiles, leases } = deps

  registry.on('LivePieceStored', LANE, async ({ liveSessionId }, unit) => unit.wake(LANE, `${liveSessionId}`))

  registry.lane(LANE, {
    queue: 'media',
    concurrency: () => STREAMS_AT_ONCE,
    nextDueSql: `select p.starts_at from live_piece p join live_session s on s.id = p.session_id
      where s.id = lane.key::int and s.state <> 'cleaned' and s.plan->'encoded'->0 is not null and s.remote is null
        and p.sequence = ${NEXT_SEQUENCE}`,
    async drain(key, { signal, isPaused }) {
      const work = workFolder('live', newUuid())
      await pendingFiles.reserve(leases.owner, [work])
      try {
        const folder = await store.workFolder(work.name)
        while (!signal.aborted && !isPaused()) {
          const next = await findNext(Number(key))
          if (!next) break
          await encode(Number(key), next, { folder, signal })
        }
      } finally {
        await pendingFiles.discard([work])
      }
      return null
    },
  })

  const findNext = async (sessionId: number): Promise<Next | undefined> =>
    (
      await db.query<Next>(
        `select s.plan, v.uuid, p.sequence, p.is_private as "isPrivate",
           (select count(*)::int from live_piece where session_id = s.id and sequence > p.sequence) as waiting
         from live_session s join video v on v.id = s.video_id join live_piece p on p.session_id = s.id
         where s.id = $1 and s.state <> 'cleaned' and v.state <> 'removed' and s.plan->'encoded'->0 is not null
           and s.remote is null and p.sequence = ${NEXT_SEQUENCE}`,
        [sessionId],
      )
    ).at(0)

  async function encode(sessionId: number, next: Next, { folder, signal }: { folder: string; signal: AbortSignal }): Promise<void> {
    const { plan, uuid, sequence, isPrivate, waiting } = next
    if (waiting > config().vireo.live.segments_in_playlist - LEFT_IN_WINDOW) {
      logger.warn({ session: sessionId, pieces: waiting }, 'live renditions are encoded too slowly: pieces are left out')
      return await leaveOut(sessionId, next, waiting)
    }
    const { stall_timeout: stallMs, max_memory: maxMemoryBytes, nice_live: niceness } = config().vireo.media
    const { threads } = config().live.transcoding
    const limits = { stallMs, maxMemoryBytes }
    try {
      const pieces = await store.withLocalPath(
        hlsFile(uuid, pieceName(0, sequence), isPrivate),
        (path) => encodePiece({ ffmpeg, path, sequence, renditions: plan.encoded, folder, threads, limits, niceness, signal }),
        signal,
      )
      const target = storeOfPieces(store, config())
      for (const { rendition, path } of pieces) await target.put(hlsFile(uuid, pieceName(rendition, sequence), isPrivate), { path })
      await note(sessionId, [sequence], pieces)
    } catch (error) {
      if (!(error instanceof MediaError) || !OF_THE_PIECE.includes(error.reason)) throw error
      logger.warn({ err: error, session: sessionId, sequence }, 'a piece of a live cannot be encoded')
      await leaveOut(sessionId, next, 1)
    }
  }

  async function leaveOut(sessionId: number, { plan, sequence }: Next, count: number): Promise<void> {
    const pieces = await db.query<Columns<typeof LivePiece, 'sequence'>>(
      'select sequence from live_piece where session_id = $1 and sequence >= $2 order by sequence limit $3',
      [sessionId, sequence, count],
    )
    await note(
      sessionId,
      pieces.map((piece) => piece.sequence),
      plan.encoded.map(({ rendition }) => ({ rendition, bytes: null, sha256: null })),
    )
  }

  /** Stores the rows of all renditions, so that the next sequence is the same for all. */
  const note = (
    sessionId: number,
    sequences: number[],
    pieces: readonly (Pick<EncodedPiece, 'rendition'> & { bytes: number | null; sha256: string | null })[],
  ): Promise<void> =>
    withSession(deps, sessionId, async (unit, session) => {
      if (session.state === 'cleaned') return
      await unit.query(
        `insert into live_rendition_piece (session_id, rendition, sequence, bytes, sha256)
         select $1, r.rendition, p.sequence, r.bytes, r.sha256
         from unnest((select $2::int[]), (select $3::int[]), (select $4::text[])) as r (rendition, bytes, sha256)
           cross join unnest((select $5::int[])) as p (sequence)
         on conflict do nothing`,
        [
          sessionId,
          pieces.map(({ rendition }) => rendition),
          pieces.map(({ bytes }) => bytes),
          pieces.map(({ sha256 }) => sha256),
          sequences,
        ],
      )
    })
}

/** SQL, with the session as `s`: the number of the first piece that is not encoded. A reconnection leaves out numbers. */
const NEXT_SEQUENCE = `(select min(sequence) from live_piece where session_id = s.id and sequence > coalesce(
  (select max(sequence) from live_rendition_piece where session_id = s.id and rendition = 1), -1))`
