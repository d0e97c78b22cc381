// Renditions of lives that remote runners make. Such a job is open while its stream runs: the runner plays the stream, sends each piece when
// it is made, and the next runner goes on after the last piece of the one before, with a discontinuity.

import { open } from 'node:fs/promises'
import { z } from 'zod'
import {
  type Ffmpeg,
  hashedFile,
  hlsFile,
  type LivePlan,
  type LiveRendition,
  MediaError,
  type MediaProbe,
  pieceName,
  probe,
  renditionOf,
  type Store,
  withSoundApart,
} from '../../media/index.ts'
import type { Aliased } from '../../platform/database/index.ts'
import { isUuid } from '../../platform/ids.ts'
import {
  findLeasedJob,
  isForRunners,
  isTokenOf,
  mostBytesOf,
  notWanted,
  type Part,
  type RemoteWorks,
  type RunnerJob,
} from '../runner/index.ts'
import {
  type ActorDeps,
  cancelRunnerJob,
  changeRunnerJob,
  DomainError,
  ignoreNotFound,
  moveRunnerJobs,
  notFound,
  offerRunnerJob,
  takes,
  type Unit,
} from '../runtime/index.ts'
import type { Leases, PendingFiles } from '../video/index.ts'
import { type LivePiece, type LiveRemotePiece, type LiveSession, latencyModes, type RemoteRun } from './live.entity.ts'
import { liveSessionLifecycle, moveSession, settingsOf, withSession } from './live.lifecycle.ts'
import { LIVE_JOB } from './live.queries.ts'
import { liveAddresses } from './live-addresses.ts'
import { RUNNING } from './live-session.commands.ts'
import { hasPlace, type PiecePlace, placeOf, SIZE_TOLERANCE } from './piece-places.ts'
import { storeOfPieces } from './store-of-pieces.ts'

/** A stream that a runner may play. Plain JSON. */
export interface PlayedJob {
  sessionId: number
  jobUuid: string
  /** Hexadecimal. */
  tokenHash: string
  sound: 'aac' | 'mp3'
}

/** Seconds: a runner cuts at key frames, which it sets itself. */
const LONGEST_SECONDS = 60
const SHORTEST_SECONDS = 0.01
/** Pieces that may be missing before one that comes. */
const MOST_MISSING = 100
/** What the probe says of a piece that was cut off after its first packets. */
const EMPTY: ReadonlySet<MediaError['reason']> = new Set(['unreadable', 'no-streams'])
/** RFC 6381. */
const MP3 = 'mp4a.40.34'
/** As runners of the reference server name pieces: the index of a stream, and a number from 0. */
const PART_NAME = /^(\d{1,2})-(\d{1,9})\.ts$/

/** Registers the kind of work. */
export function makeRemoteRenditions(
  deps: ActorDeps & {
    store: Store
    ffmpeg: Ffmpeg
    pendingFiles: PendingFiles
    leases: Pick<Leases, 'owner'>
    works: RemoteWorks
  },
): void {
  const { db, tell, registry, config, store, ffmpeg, pendingFiles, leases, works } = deps

  // After each piece, so that a job which ended too early is followed by the next.
  registry.on('LivePieceStored', 'live-runners', async ({ liveSessionId }, unit) => {
    if (await isTakenBack(liveSessionId)) return
    const [stream] = await unit.query<Aliased<LiveSession, 'videoId'> & { video: string; plan: LivePlan; isFast: boolean }>(
      `select s.video_id as "videoId", v.uuid as video, s.plan, l.latency_mode = ${latencyModes.small} as "isFast"
       from live_session s join video v on v.id = s.video_id join video_live l on l.video_id = v.id
       where s.id = $1 and s.remote is not null and s.state = any($2) and v.state <> 'removed' for no key update of s`,
      [liveSessionId, RUNNING],
    )
    if (!stream) return
    const { plan, isFast, ...of } = stream
    const { small_latency_segment_duration, segment_duration, segments_in_playlist } = config().vireo.live
    const data = {
      ...of,
      liveSessionId,
      toTranscode: plan.encoded.map(({ width, height, picture }) => ({ resolution: Math.min(width, height), fps: picture?.fps ?? 0 })),
      segmentDuration: Math.round((isFast ? small_latency_segment_duration : segment_duration) / 1000),
      segmentListSize: segments_in_playlist,
    }
    // Before all that can wait.
    await offerRunnerJob(unit, { type: LIVE_JOB, data, priority: 0 })
  })

  /** Before its first piece of a runner, a stream is encoded here if runners stay away. Later its timeline is theirs. */
  async function isTakenBack(id: number): Promise<boolean> {
    const awaited = await db.query(`select 1 from live_session where id = $1 and remote->'runs' = '[]' and state = any($2)`, [id, RUNNING])
    const { enabled, remote_runners } = config().live.transcoding
    if (awaited.length === 0 || (await isForRunners(db, deps, enabled && remote_runners.enabled))) return false
    return await withSession(deps, id, async (unit, session) => {
      if (session.remote?.runs.length !== 0 || !RUNNING.includes(session.state)) return false
      session.remote = null
      await cancelRunnerJob(unit, LIVE_JOB, session.videoId)
      unit.emit({ aggregate: 'video', id: session.videoId }, 'LiveStarted', { videoId: session.videoId })
      return true
    })
  }

  registry.on('LiveEnded', 'live-runners', ({ videoId }, unit) =>
    moveRunnerJobs(unit, 'CANCELLED', `job.type = $2 and job.data->>'videoId' = $3 and job.state = 'pending' and job.uuid is not null`, [
      LIVE_JOB,
      String(videoId),
    ]),
  )

  registry.on('RunnerJobFailed', 'live', async ({ type, jobId, data }) => {
    if (type !== LIVE_JOB) return
    const stopped = withSession(deps, Number(data.liveSessionId), async (unit, session) => {
      const failed = await unit.query(`select 1 from job where id = $1 and state = 'errored'`, [jobId])
      const stop = { type: 'STOPPED', error: failed.length > 0 ? 'runner-job-error' : 'runner-job-cancelled' } as const
      if (takes(liveSessionLifecycle, session, stop)) moveSession(unit, session, stop, settingsOf(deps))
    })
    // With its video, the session may be gone.
    await ignoreNotFound(stopped)
  })

  works.add(LIVE_JOB, {
    silence: 'live',
    payload({ uuid, data: { toTranscode, segmentDuration, segmentListSize } }, _address, jobToken) {
      const rtmpUrl = `${playAddress()}/${jobToken === undefined ? uuid : `${uuid}.${jobToken}`}`
      return { input: { rtmpUrl }, output: { toTranscode, segmentDuration, segmentListSize } }
    },
    privatePayload: ({ data }) => ({ videoUUID: data.video, sessionId: String(data.liveSessionId), masterPlaylistName: 'master.m3u8' }),
    input: async () => undefined,
    results: async () => ({}),
    // The stream goes on if only its player was lost: then the next piece offers another job.
    take: (job, _result, done) => tell({ aggregate: 'live_session', id: Number(job.data.liveSessionId) }, done),
    isOver: async ({ query }, job) =>
      (await query('select 1 from live_session where id = $1 and state = any($2)', [Number(job.data.liveSessionId), RUNNING])).length === 0,
    parts: {
      mostBytes: ({ data }) => Math.max(...wantedIn(data).map((wanted) => mostBytesOf({ ...wanted, seconds: LONGEST_SECONDS }))),
      take: takePart,
    },
  })

  /** Where runners play streams. */
  function playAddress(): string {
    const { rtmpUrl, rtmpsUrl } = liveAddresses(config())
    return rtmpUrl ?? rtmpsUrl ?? ''
  }

  async function takePart(job: RunnerJob, { name, path, leasedAt }: Part, signal: AbortSignal): Promise<void> {
    const { index, number, wanted } = namedIn(job, name)
    const made = await probe({ ffmpeg, path, signal, timeoutMs: config().vireo.media.probe_timeout }).catch(async (error: unknown) => {
      if (error instanceof MediaError && EMPTY.has(error.reason) && (await isTransportStream(path))) return undefined
      const isLocalFault = error instanceof MediaError && error.reason === 'failed'
      throw isLocalFault ? new DomainError('unavailable', 'The piece cannot be checked now.', { cause: error }) : error
    })
    if (!made || made.duration <= 0) return
    const sessionId = Number(job.data.liveSessionId)
    const piece = await withSession(deps, sessionId, async (unit, session) => {
      const place = placeIn(session, { leasedAt, index, made, wanted })
      // The last piece of a stream may have no picture, or less than one. Players go on without it.
      if (!made.video && place?.resolution !== 0) return undefined
      if (!place) throw noSuchPiece()
      assertFits(made, place.resolution)
      const { run, first, startTime } = await runOf(unit, session, leasedAt, made.startTime)
      notePlace(session, index, place)
      if (place.isSplit) await setSoundApart(unit, session, job)
      const [{ isPrivate } = { isPrivate: true }] = await unit.query<Aliased<typeof LivePiece, 'isPrivate'>>(
        'select is_private as "isPrivate" from live_piece where session_id = $1 order by sequence desc limit 1',
        [sessionId],
      )
      const startsAt = new Date(leasedAt.getTime() + (made.startTime - startTime) * 1000)
      const { rendition } = place
      return { sessionId, run, first, rendition, sequence: first + number, startsAt, seconds: secondsOf(made), isPrivate }
    })
    if (!piece) return
    if (await isStored(piece)) return
    const ref = hlsFile(String(job.data.video), pieceName(piece.rendition, piece.sequence), piece.isPrivate)
    const { bytes, sha256 } = await hashedFile(path)
    await pendingFiles.reserve(leases.owner, [ref])
    try {
      await storeOfPieces(store, config()).put(ref, { path })
      await withSession(deps, sessionId, async (unit, session) => {
        if ((await runOf(unit, session, leasedAt, made.startTime)).run !== piece.run) throw notWanted()
        const isFirst = await addPiece(unit, { ...piece, bytes, sha256 })
        await pendingFiles.settle(unit.query, [ref])
        if (isFirst) await begin(unit, session, renditionOf(made, piece.rendition))
      })
    } catch (error) {
      // The response to a commit can be lost.
      if (!(await isStored(piece))) await pendingFiles.discard([ref])
      throw error
    }
  }

  const isStored = async ({ sessionId, rendition, sequence }: Pick<NewPiece, 'sessionId' | 'rendition' | 'sequence'>): Promise<boolean> => {
    const of = [sessionId, rendition, sequence]
    const stored = 'select 1 from live_remote_piece where session_id = $1 and rendition = $2 and sequence = $3 and bytes is not null'
    return (await db.query(stored, of)).length > 0
  }
}

/**
 * The number of a lease among those that gave pieces, from 1, with its first sequence and timestamp. Throws `not_found` if another runner has
 * the job.
 */
async function runOf(
  unit: Unit,
  session: LiveSession,
  leasedAt: Date,
  startTime: number,
): Promise<{ run: number; first: number; startTime: number }> {
  const runs = session.remote?.runs
  const last = runs?.at(-1)
  if (!runs || session.state === 'cleaned' || (last && new Date(last.leasedAt) > leasedAt)) throw notWanted()
  if (last?.leasedAt === leasedAt.toISOString()) return { run: runs.length, first: last.firstSequence, startTime: last.startTime }
  const [{ next } = { next: null }] = await unit.query<{ next: number | null }>(
    'select max(sequence) + 1 as next from live_remote_piece where session_id = $1',
    [session.id],
  )
  const first = next ?? session.firstSequence
  session.remote = { runs: [...runs, { leasedAt: leasedAt.toISOString(), firstSequence: first, startTime }] }
  return { run: runs.length + 1, first, startTime }
}

/** Where a piece belongs: as the first one of its index in this lease showed. */
function placeIn(
  { remote, plan }: LiveSession,
  { leasedAt, index, made, wanted }: { leasedAt: Date; index: number; made: MediaProbe; wanted: readonly number[] },
): PiecePlace | undefined {
  const run = remote?.runs.at(-1)
  const places = run?.leasedAt === leasedAt.toISOString() ? run.places : undefined
  if (places?.[index]) return places[index]
  const hasSound = plan?.sound !== undefined || plan?.encoded.some(({ codecs }) => codecs.some((codec) => codec.startsWith('mp4a')))
  return placeOf({ index, made, wanted, hasSound: hasSound ?? false })
}

/** Throws MediaError if another index of the lease has this place. */
function notePlace(session: LiveSession, index: number, place: PiecePlace): void {
  const runs: RemoteRun[] = session.remote?.runs ?? []
  const last = runs.at(-1)
  if (!last || last.places?.[index]) return
  if (Object.values(last.places ?? {}).some(({ rendition }) => rendition === place.rendition)) {
    throw new MediaError('unreadable', 'Pieces of one rendition have different names.')
  }
  session.remote = { runs: [...runs.slice(0, -1), { ...last, places: { ...last.places, [index]: place } }] }
}

/** The pictures of a runner have no sound: all share one rendition of it, which the next runner makes too. */
async function setSoundApart(unit: Unit, session: LiveSession, { id, data }: RunnerJob): Promise<void> {
  const { plan } = session
  if (!plan || plan.sound !== undefined) return
  session.plan = withSoundApart(plan)
  const toTranscode = wantedIn(data)
  if (toTranscode.some(({ resolution }) => resolution === 0)) return
  await changeRunnerJob(unit, id, { ...data, toTranscode: [...toTranscode, { resolution: 0, fps: 0 }] })
}

interface NewPiece {
  sessionId: number
  rendition: number
  sequence: number
  run: number
  first: number
  startsAt: Date
  seconds: number
  bytes: number
  sha256: string
  isPrivate: boolean
}

/**
 * Adds a piece, and gaps for those before it that have not come. Returns true for the first one of its rendition. Throws MediaError if it
 * does not follow the others.
 */
async function addPiece(unit: Unit, piece: NewPiece): Promise<boolean> {
  const { sessionId, rendition, sequence, run, first, startsAt, seconds, bytes, sha256, isPrivate } = piece
  const [last] = await unit.query<Aliased<typeof LiveRemotePiece, 'sequence' | 'startsAt'>>(
    `select sequence, starts_at as "startsAt" from live_remote_piece
     where session_id = $1 and rendition = $2 order by sequence desc limit 1`,
    [sessionId, rendition],
  )
  const from = Math.min(last ? last.sequence + 1 : first, sequence)
  if (sequence - from > MOST_MISSING) throw new DomainError('invalid', 'Too many pieces are missing before this one.')
  const later = last && last.sequence >= first ? (startsAt.getTime() - last.startsAt.getTime()) / 1000 : 0
  const steps = last ? sequence - last.sequence : 0
  if (later * steps < 0 || Math.abs(later) > Math.abs(steps) * LONGEST_SECONDS) {
    throw new MediaError('unreadable', 'The times of a piece do not follow those of the one before.')
  }
  await unit.query(
    `insert into live_remote_piece (session_id, rendition, sequence, run, seconds, starts_at, bytes, sha256, is_private)
     select $1, $2, n, $5, $6::float8, $7::timestamptz - ($3 - n) * $6::float8 * interval '1 second',
       case when n = $3 then $8::int end, case when n = $3 then $9 end, $10
     from generate_series($4::int, $3::int) as n
     on conflict (session_id, rendition, sequence) do update set seconds = excluded.seconds, starts_at = excluded.starts_at,
         bytes = excluded.bytes, sha256 = excluded.sha256
       where live_remote_piece.bytes is null`,
    [sessionId, rendition, sequence, from, run, seconds, startsAt, bytes, sha256, isPrivate],
  )
  return last === undefined
}

/** Of the picture, if there is one: sound is cut less exactly. */
const secondsOf = ({ video, duration }: MediaProbe): number =>
  Math.max(SHORTEST_SECONDS, (video?.endsAt ?? duration) - (video?.startsAt ?? 0))

/** Notes what a rendition is like. With the first piece of the last rendition, people can watch. */
async function begin(unit: Unit, session: LiveSession, { rendition, ...made }: LiveRendition): Promise<void> {
  if (!session.plan) return
  const encoded = session.plan.encoded.map((planned) => (planned.rendition === rendition ? { ...planned, ...made } : planned))
  session.plan = { ...session.plan, encoded }
  const [{ begun } = { begun: 0 }] = await unit.query<{ begun: number }>(
    'select count(distinct rendition)::int as begun from live_remote_piece where session_id = $1',
    [session.id],
  )
  if (begun < encoded.length || !RUNNING.includes(session.state)) return
  unit.emit({ aggregate: 'video', id: session.videoId }, 'LiveStarted', { videoId: session.videoId })
}

/** True if packets of MPEG-TS begin where they should. */
async function isTransportStream(path: string): Promise<boolean> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(PACKET_BYTES + 1))
    return bytesRead > PACKET_BYTES && buffer[0] === SYNC_BYTE && buffer[PACKET_BYTES] === SYNC_BYTE
  } finally {
    await file.close()
  }
}

/** ISO/IEC 13818-1, 2.4.3. */
const PACKET_BYTES = 188
const SYNC_BYTE = 0x47

const wantedIn = ({ toTranscode }: RunnerJob['data']) => z.array(z.object({ resolution: z.number(), fps: z.number() })).parse(toTranscode)

const noSuchPiece = () => new DomainError('invalid', 'The job has no piece of this name.')

/** What the name of a piece says, and the resolutions of its job. Throws `invalid`. */
function namedIn({ data }: RunnerJob, name: string): { index: number; number: number; wanted: number[] } {
  const [, index, number] = PART_NAME.exec(name) ?? []
  const wanted = wantedIn(data).map(({ resolution }) => resolution)
  if (index === undefined || !hasPlace(Number(index), wanted)) throw noSuchPiece()
  return { index: Number(index), number: Number(number), wanted }
}

/** Throws MediaError for a piece that players could not play, or that was not wanted. */
function assertFits(made: MediaProbe, resolution: number): void {
  const { format, duration, video } = made
  const refuse = (message: string): never => {
    throw new MediaError('unreadable', message)
  }
  if (!format.includes('mpegts')) refuse('A piece of a live is not MPEG-TS.')
  if (duration > LONGEST_SECONDS) refuse(`A piece of a live takes ${duration} s.`)
  if (renditionOf(made, 0).codecs.length === 0) refuse('The codecs of a piece of a live are unknown to players.')
  if (video && resolution === 0) refuse('A piece of sound has a picture.')
  if (video && Math.min(video.width, video.height) > resolution + SIZE_TOLERANCE)
    refuse('The picture of a live is larger than its rendition.')
}

/** The stream that a runner may play with this name: the UUID of its job and the token of its lease. Throws `not_found`. */
export async function admitPlayer({ query }: Pick<ActorDeps['db'], 'query'>, name: string): Promise<PlayedJob> {
  const [jobUuid = '', token = ''] = name.split(/\.(.*)/s)
  const job = isUuid(jobUuid) ? await findLeasedJob({ query }, jobUuid) : undefined
  if (job?.type !== LIVE_JOB || job.state !== 'processing' || !isTokenOf(job, token)) throw notFound('There is no such stream.')
  const sessionId = Number(job.data.liveSessionId)
  const [plan] = await query<{ isMp3: boolean }>(`select plan->'source'->'codecs' ? $2 as "isMp3" from live_session where id = $1`, [
    sessionId,
    MP3,
  ])
  return { sessionId, jobUuid, tokenHash: job.token_hash?.toString('hex') ?? '', sound: plan?.isMp3 ? 'mp3' : 'aac' }
}
