// Reads of lives and their sessions. One statement each.

import type { Aliased, Database } from '../../platform/database/index.ts'
import type { LiveError } from '../../state-machines/live-session.ts'
import { isOpenRunnerJob } from '../runtime/index.ts'
import { type Openness, videoPrivacies } from '../video/index.ts'
import type { Video } from '../video/video.entity.ts'
import type { LiveSession, VideoLive } from './live.entity.ts'
import type { LivePieceRow } from './live-playlists.ts'

type Reader = Pick<Database, 'query'>

/** The work of remote runners, by the contract. */
export const LIVE_JOB = 'live-rtmp-hls-transcoding'

export type LiveRow = Aliased<VideoLive, 'streamKey' | 'permanentLive' | 'saveReplay' | 'replayPrivacy' | 'latencyMode'>

/** The settings of a live; undefined if the video is none. */
export const findLive = async (db: Reader, videoId: number): Promise<LiveRow | undefined> =>
  (
    await db.query<LiveRow>(
      `select stream_key as "streamKey", permanent_live as "permanentLive", save_replay as "saveReplay",
         replay_privacy as "replayPrivacy", latency_mode as "latencyMode"
       from video_live where video_id = $1`,
      [videoId],
    )
  ).at(0)

export interface LiveSessionRow extends Aliased<LiveSession, 'id' | 'startedAt' | 'endedAt' | 'state' | 'saveReplay' | 'replayPrivacy'> {
  error: LiveError | null
  replay: { id: number; uuid: string } | null
}

const SESSIONS = `select s.id, s.started_at as "startedAt", s.ended_at as "endedAt", s.state, s.context->>'error' as error,
    s.save_replay as "saveReplay", s.replay_privacy as "replayPrivacy",
    case when r.id is not null then jsonb_build_object('id', r.id, 'uuid', r.uuid) end as replay
  from live_session s left join video r on r.id = s.replay_video_id and r.state <> 'removed'`

/** All sessions of a live, the oldest first. */
export const listLiveSessions = (db: Reader, videoId: number) =>
  db.query<LiveSessionRow>(`${SESSIONS} where s.video_id = $1 order by s.started_at, s.id`, [videoId])

/** The session that a replay records. */
export const findSessionOfReplay = async (db: Reader, videoId: number): Promise<LiveSessionRow | undefined> =>
  (await db.query<LiveSessionRow>(`${SESSIONS} where s.replay_video_id = $1 order by s.id desc limit 1`, [videoId])).at(0)

export type ReplayRow = Aliased<Video, 'uuid' | 'name' | 'duration'> & Aliased<LiveSession, 'startedAt'>

/** The newest public recordings of a permanent live, at most ten. */
export const listReplays = (db: Reader, videoId: number) =>
  db.query<ReplayRow>(
    `select r.uuid, r.name, s.started_at as "startedAt", r.duration from live_session s join video r on r.id = s.replay_video_id
     where s.video_id = $1 and r.id <> $1 and r.state = 'published' and r.privacy = ${videoPrivacies.public} and not r.blocked
     order by s.started_at desc limit 10`,
    [videoId],
  )

export interface LiveStreamRow extends Openness, Aliased<VideoLive, 'latencyMode'>, Aliased<LiveSession, 'plan'> {
  /** False once nothing more will come: its publisher is gone for good, and no runner works on. */
  isRunning: boolean
  /** Sequence of the newest piece that was received and is, or will be, encoded here; 0 if runners encode. */
  newest: number
  /** The oldest first. */
  pieces: LivePieceRow[]
}

/**
 * The stream of the session of a local live that runs, or ended last, with its newest pieces of one rendition, or of all (null); undefined
 * for a live without any.
 */
export const findLiveStream = async (
  db: Reader,
  { uuid, rendition, most }: { uuid: string; rendition: number | null; most: number },
): Promise<LiveStreamRow | undefined> =>
  (
    await db.query<LiveStreamRow>(
      `select v.privacy, v.blocked, l.latency_mode as "latencyMode",
         s.state in ('receiving', 'publishing', 'interrupted') or s.remote is not null and exists (
           select from job j
           where j.uuid is not null and j.type = '${LIVE_JOB}' and j.data->>'videoId' = v.id::text and ${isOpenRunnerJob('j')}
         ) as "isRunning",
         s.plan, case when s.remote is null then e.newest else 0 end as newest, coalesce((
           select jsonb_agg(jsonb_build_object('rendition', rendition, 'sequence', sequence, 'generation', generation, 'seconds', seconds,
             'bytes', bytes, 'sha256', sha256, 'startsAt', starts_at, 'position', coalesce(position, sequence),
             'discontinuities', coalesce(discontinuities, generation - 1)) order by sequence)
           from (
             select 0 as rendition, sequence, generation, seconds, bytes, sha256, starts_at, position, discontinuities from live_piece
             where session_id = s.id and sequence > e.newest - $3 and coalesce($2, 0) = 0
             union all
             select r.rendition, sequence, p.generation, p.seconds, r.bytes, r.sha256, p.starts_at, p.position, p.discontinuities
             from live_rendition_piece r join live_piece p using (session_id, sequence)
             where session_id = s.id and sequence > e.newest - $3 and coalesce($2, r.rendition) = r.rendition
             union all
             select rendition, sequence, run, greatest(0.01, coalesce(
                 extract(epoch from lead(starts_at) over (partition by rendition, run order by sequence) - starts_at)::float8, seconds
               )), bytes, sha256, starts_at, null, null from live_remote_piece
             where session_id = s.id and sequence > m.newest - $3 and coalesce($2, rendition) = rendition
           ) piece
         ), '[]') as pieces
       from video v join video_live l on l.video_id = v.id and l.stream_key is not null
         cross join lateral (
           select id, state, plan, remote from live_session where video_id = v.id and state <> 'cleaned' order by started_at desc, id desc limit 1
         ) s
         cross join lateral (select max(sequence) as newest from live_piece where session_id = s.id) e
         cross join lateral (select max(sequence) as newest from live_remote_piece where session_id = s.id) m
       where v.uuid = $1 and v.state <> 'removed' and e.newest is not null`,
      [uuid, rendition, most],
    )
  ).at(0)

/** A stream, as a runner that has its job reads it. */
export interface PlayedStream {
  uuid: string
  isRunning: boolean
  /** False once the runner has lost the job. */
  isLeased: boolean
  /** The next ones as they were received, the oldest first; at most ten. */
  pieces: { sequence: number; generation: number; isPrivate: boolean }[]
}

/** The pieces after `after`; at first (null) the newest one, with those before it unless a runner made them. Undefined if the stream is gone. */
export const findPlayedStream = async (
  db: Reader,
  { sessionId, jobUuid, tokenHash, after }: { sessionId: number; jobUuid: string; tokenHash: Buffer; after: number | null },
): Promise<PlayedStream | undefined> =>
  (
    await db.query<PlayedStream>(
      `select v.uuid, s.state in ('receiving', 'publishing', 'interrupted') as "isRunning",
         exists (select from job where uuid = $2 and state = 'processing' and lease_token_hash = $3) as "isLeased", coalesce((
           select jsonb_agg(jsonb_build_object('sequence', sequence, 'generation', generation, 'isPrivate', is_private) order by sequence)
           from (
             select sequence, generation, is_private from live_piece where session_id = s.id and sequence > coalesce(
               $4, (select max(sequence) from live_piece where session_id = s.id) - case s.remote->'runs' when '[]' then 5 else 1 end
             ) order by sequence limit 10
           ) piece
         ), '[]') as pieces
       from live_session s join video v on v.id = s.video_id where s.id = $1 and s.state <> 'cleaned' and v.state <> 'removed'`,
      [sessionId, jobUuid, tokenHash, after],
    )
  ).at(0)
