// Reads of lives and their sessions. One statement each.

import type { Database } from '../../platform/database/index.ts'
import type { LiveError } from '../../state-machines/live-session.ts'
import type { Openness } from '../video/index.ts'
import type { LatencyMode } from './live.entity.ts'
import type { LivePieceRow } from './live-playlists.ts'

type Reader = Pick<Database, 'query'>

export interface LiveRow {
  /** Null for a remote live. */
  streamKey: string | null
  permanentLive: boolean
  saveReplay: boolean
  replayPrivacy: number | null
  latencyMode: LatencyMode
}

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

export interface LiveSessionRow {
  id: number
  startedAt: Date
  endedAt: Date | null
  state: string
  error: LiveError | null
  saveReplay: boolean
  replayPrivacy: number | null
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

export interface LiveStreamRow extends Openness {
  latencyMode: LatencyMode
  /** False once its publisher is gone for good: nothing more will come. */
  isRunning: boolean
  /** The oldest first. */
  pieces: LivePieceRow[]
}

/** The newest `most` pieces of the session of a local live that runs, or ended last; undefined for a live without any. */
export async function findLiveStream(db: Reader, uuid: string, most: number): Promise<LiveStreamRow | undefined> {
  const rows = await db.query<LivePieceRow & Omit<LiveStreamRow, 'pieces'>>(
    `select v.privacy, v.blocked, l.latency_mode as "latencyMode", s.state in ('receiving', 'publishing', 'interrupted') as "isRunning",
       p.sequence, p.generation, p.seconds, p.bytes, p.sha256, p.starts_at as "startsAt"
     from video v join video_live l on l.video_id = v.id and l.stream_key is not null
       cross join lateral (select id, state from live_session where video_id = v.id and state <> 'cleaned' order by started_at desc, id desc limit 1) s
       cross join lateral (select * from live_piece where session_id = s.id order by sequence desc limit ${Number(most)}) p
     where v.uuid = $1 and v.state <> 'removed' order by p.sequence`,
    [uuid],
  )
  const [first] = rows
  if (!first) return undefined
  const { privacy, blocked, latencyMode, isRunning } = first
  return { privacy, blocked, latencyMode, isRunning, pieces: rows }
}
