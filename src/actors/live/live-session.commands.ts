// Streams of lives: accepted by their key, and moved by what their receivers report. It runs in the process of each stream too, so it needs
// little else.

import type { LivePlan } from '../../media/index.ts'
import type { Aliased, Columns, Sql } from '../../platform/database/index.ts'
import type { LiveError, LiveSessionEvent } from '../../state-machines/live-session.ts'
import { type ActorDeps, contextOf, DomainError, initialColumns, notFound, takes, type Unit } from '../runtime/index.ts'
import { FEDERATED_PRIVACIES } from '../video/video.entity.ts'
import { type LatencyMode, LiveSession, VideoLive } from './live.entity.ts'
import { liveSessionLifecycle, moveSession, settingsOf, withSession } from './live.lifecycle.ts'

/** A stream that was accepted. Its receiver reports with the generation, which another connection may replace. */
export interface AcceptedStream {
  sessionId: number
  generation: number
  /** Number of the next piece. */
  nextSequence: number
  videoId: number
  videoUuid: string
  /** Its files are in the private folder. */
  isPrivate: boolean
  latencyMode: LatencyMode
  /** False until the renditions of the session are planned. */
  isPlanned: boolean
}

/** A piece of a stream, which is in the store. */
export interface StoredPiece {
  generation: number
  sequence: number
  seconds: number
  bytes: number
  /** Hexadecimal. */
  sha256: string
  startsAt: Date
  /** Its file is in the private folder. */
  isPrivate: boolean
  /** Of the first piece of a session: its renditions, and whether remote runners make them. */
  plan?: LivePlan | undefined
  isRemote?: boolean
}

/** What the receiver of a stream reports of its end. */
export type StreamEnd = Exclude<Extract<LiveSessionEvent, { generation: number }>, { type: 'PIECE_STORED' }>

/** How often the process of a stream reports that it lives, in ms. */
export const REPORT_EVERY = 1_000
/** ms without sound and picture after which another publisher with the same key is accepted. */
const REPLACED_AFTER = 8_000

export const RUNNING = ['receiving', 'publishing', 'interrupted']
const NO_VIDEO = { uuid: '', state: 'removed', isPrivate: true }

export type LiveSessionDeps = Pick<ActorDeps, 'db' | 'tell' | 'config' | 'clock'> & {
  /** Bytes that the user may add. */
  quotaLeft(db: { query: Sql }, userId: number): Promise<number>
}

export type LiveSessions = ReturnType<typeof makeLiveSessions>

export function makeLiveSessions({ db, tell, config, clock, quotaLeft }: LiveSessionDeps) {
  const settings = () => settingsOf({ config })

  async function begin(unit: Unit, live: VideoLive): Promise<LiveSession> {
    const [{ next } = { next: 0 }] = await unit.query<{ next: number }>(
      `select coalesce(max(greatest(reserved, (select max(sequence) + 1 from live_piece where session_id = s.id),
         (select max(sequence) from live_remote_piece where session_id = s.id))) + 1, 0) as next
       from live_session s where video_id = $1`,
      [live.videoId],
    )
    const session = unit.em.create(LiveSession, {
      ...initialColumns(liveSessionLifecycle, unit.now, settings()),
      videoId: live.videoId,
      saveReplay: live.saveReplay,
      replayPrivacy: live.replayPrivacy,
      replayVideoId: null,
      firstSequence: next,
      reserved: null,
      heardAt: null,
      plan: null,
      remote: null,
      startedAt: unit.now,
      endedAt: null,
      createdAt: unit.now,
      updatedAt: unit.now,
    })
    await unit.em.flush()
    return session
  }

  /** The running session of a live. One whose publisher is silent counts as interrupted, before its process or the sweeper finds that. */
  async function runningOf(unit: Unit, videoId: number): Promise<LiveSession | undefined> {
    const session = await unit.em.findOne(LiveSession, { videoId, state: { $in: RUNNING } })
    if (!session) return undefined
    const { generation } = contextOf(liveSessionLifecycle, session)
    const lost = { type: 'LOST', generation } as const
    const isSilent = session.heardAt ? unit.now.getTime() - session.heardAt.getTime() >= REPLACED_AFTER : false
    if (session.dueAt && session.dueAt <= unit.now) moveSession(unit, session, { type: 'TIMED_OUT' }, settings())
    else if (isSilent && takes(liveSessionLifecycle, session, lost)) moveSession(unit, session, lost, settings())
    if (RUNNING.includes(session.state)) return session
    // Before the next one is inserted: a live has one session that runs.
    await unit.em.flush()
    return undefined
  }

  /** The limit that ends the session, if one does. */
  async function limitOf(unit: Unit, session: LiveSession): Promise<LiveError | undefined> {
    const [{ userId, isBlocked } = { userId: 0, isBlocked: true }] = await unit.query<{ userId: number; isBlocked: boolean }>(
      `select u.id as "userId", v.blocked or u.blocked or v.state = 'removed' as "isBlocked"
       from video v join channel c on c.id = v.channel_id join account a on a.id = c.account_id join users u on u.id = a.user_id
       where v.id = $1`,
      [session.videoId],
    )
    if (isBlocked) return 'blocked'
    const { max_duration } = config().live
    if (max_duration >= 0 && unit.now.getTime() - session.startedAt.getTime() > max_duration) return 'duration-exceeded'
    if (!session.saveReplay) return undefined
    const left = await quotaLeft(unit, userId)
    if (left === Number.POSITIVE_INFINITY) return undefined
    const [{ bytes } = { bytes: 0 }] = await unit.query<{ bytes: number }>(
      'select coalesce(sum(bytes), 0)::float8 as bytes from live_piece where session_id = $1',
      [session.id],
    )
    return bytes > left ? 'quota-exceeded' : undefined
  }

  return {
    /**
     * Accepts a publisher: begins a session, or continues an interrupted one. Throws `not_found` for an unknown key, `forbidden` if lives
     * are disabled or the video or its owner is blocked, `gone` if the live has ended, and `conflict` while another publisher sends.
     */
    async accept(streamKey: string): Promise<AcceptedStream> {
      const [found] = await db.query<Aliased<VideoLive, 'videoId'> & { isBlocked: boolean }>(
        `select l.video_id as "videoId", v.blocked or coalesce(u.blocked, false) as "isBlocked"
         from video_live l join video v on v.id = l.video_id join channel c on c.id = v.channel_id
           join account a on a.id = c.account_id left join users u on u.id = a.user_id
         where l.stream_key::text = $1 and v.state <> 'removed'`,
        [streamKey.toLowerCase()],
      )
      if (!found) throw notFound('There is no live with this key.')
      if (!config().live.enabled) throw new DomainError('forbidden', 'Lives are disabled on this server.')
      if (found.isBlocked) throw new DomainError('forbidden', 'This live or its owner is blocked.')
      return await tell({ aggregate: 'video', id: found.videoId }, async (unit) => {
        const live = await unit.em.findOneOrFail(VideoLive, { videoId: found.videoId })
        const running = await runningOf(unit, live.videoId)
        const [{ uuid, state, isPrivate } = NO_VIDEO] = await unit.query<typeof NO_VIDEO>(
          `select uuid, state, blocked or privacy not in ${FEDERATED_PRIVACIES} as "isPrivate" from video where id = $1`,
          [live.videoId],
        )
        // The end of the last stream of a permanent live may not have reached the video yet.
        const isWaiting = state === 'waiting-for-live' || (live.permanentLive && state === 'published')
        if (!running && !isWaiting) throw new DomainError('gone', 'This live has ended.')
        const session = running ?? (await begin(unit, live))
        if (!takes(liveSessionLifecycle, session, { type: 'ACCEPTED' })) {
          throw new DomainError('conflict', 'Another publisher streams to this live.')
        }
        moveSession(unit, session, { type: 'ACCEPTED' }, settings())
        const { generation } = contextOf(liveSessionLifecycle, session)
        const { id: sessionId, firstSequence } = session
        // A connection stores the file of one piece before its row, perhaps after it was replaced: that number is left out.
        const [{ next } = { next: firstSequence }] = await unit.query<{ next: number }>(
          `select coalesce(greatest($2, (select max(sequence) + 1 from live_piece where session_id = $1)) + 1, $3) as next`,
          [sessionId, session.reserved, firstSequence],
        )
        session.reserved = next
        session.heardAt = unit.now
        return {
          sessionId,
          generation,
          nextSequence: next,
          videoId: live.videoId,
          videoUuid: uuid,
          isPrivate,
          latencyMode: live.latencyMode,
          isPlanned: session.plan !== null,
        }
      })
    },

    /**
     * Adds a piece; twice is once. Returns false if the stream exceeds a limit, or its video or its owner is blocked: the session has ended
     * then. Throws `conflict` if it had ended before or another connection continued it.
     */
    addPiece(sessionId: number, { generation, sequence, seconds, bytes, sha256, startsAt, isPrivate, plan, isRemote }: StoredPiece) {
      return withSession({ tell }, sessionId, async (unit, session) => {
        if (session.plan === null && plan) {
          session.plan = plan
          session.remote = isRemote ? { runs: [] } : null
        }
        moveSession(unit, session, { type: 'PIECE_STORED', generation }, settings())
        await unit.query(
          `insert into live_piece (session_id, sequence, generation, seconds, bytes, sha256, starts_at, is_private, position, discontinuities)
           select $1, $2, $3, $4, $5, $6, $7, $8, coalesce(last.position, last.sequence, $9 - 1) + 1,
             case when last.sequence is null then 0
               else coalesce(last.discontinuities, last.generation - 1) + case when last.generation = $3 then 0 else 1 end end
           from (values (1)) one left join lateral (
             select sequence, generation, position, discontinuities from live_piece where session_id = $1 order by sequence desc limit 1
           ) last on true
           on conflict do nothing`,
          [sessionId, sequence, generation, seconds, bytes, sha256, startsAt, isPrivate, session.firstSequence],
        )
        if (session.plan?.encoded.length)
          unit.emit({ aggregate: 'live_session', id: sessionId }, 'LivePieceStored', { liveSessionId: sessionId })
        const error = await limitOf(unit, session)
        if (error) moveSession(unit, session, { type: 'FAILED', generation, error }, settings())
        return error === undefined
      })
    },

    /**
     * Says that the process of a stream lives, and that media came `quietMs` ago. Returns false if another connection replaced it, or the
     * session has ended: then it ends too.
     */
    async reportAlive({ sessionId, generation }: Pick<AcceptedStream, 'sessionId' | 'generation'>, quietMs: number): Promise<boolean> {
      // Without the lock of the video: it changes no state.
      const current = await db.query(
        `update live_session set heard_at = $4
         where id = $1 and state = any($2) and (context->>'generation')::int = $3 returning id`,
        [sessionId, RUNNING, generation, new Date(clock.now().getTime() - quietMs)],
      )
      return current.length > 0
    },

    /** Ends all streams. */
    async stopAll(): Promise<void> {
      const running = await db.query<Columns<LiveSession, 'id'>>('select id from live_session where state = any($1)', [RUNNING])
      for (const { id } of running) {
        await withSession({ tell }, id, async (unit, session) => {
          const stop = { type: 'STOPPED', error: null } as const
          if (takes(liveSessionLifecycle, session, stop)) moveSession(unit, session, stop, settings())
        })
      }
    },

    /** Throws like `addPiece`. */
    end(sessionId: number, end: StreamEnd): Promise<void> {
      return withSession({ tell }, sessionId, async (unit, session) => void moveSession(unit, session, end, settings()))
    },
  }
}
