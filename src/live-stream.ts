// The process of one live stream: takes its connection, cuts it into pieces, stores each with its row, and reports the end. It outlives the
// process that accepted the connection. Started by compose/live.ts.

import { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { LivePiece, LiveSession, latencyModes, VideoLive } from './actors/live/live.entity.ts'
import { type AcceptedStream, makeLiveSessions, REPORT_EVERY, type StreamEnd } from './actors/live/live-session.commands.ts'
import { storeOfPieces } from './actors/live/store-of-pieces.ts'
import { isForRunners } from './actors/runner/runner.queries.ts'
import { DomainError, isDeadHere, leaseOwner, makeDetachedTell } from './actors/runtime/index.ts'
import { makePendingFiles } from './actors/video/files/pending-files.ts'
import { workFolder } from './actors/video/files/work-folders.ts'
import type { Config } from './config/index.ts'
import { openStore } from './connections.ts'
import {
  type CutEnd,
  cutPieces,
  type Ffmpeg,
  hlsFile,
  type LivePlan,
  type LivePiece as Piece,
  pieceName,
  planLive,
  probe,
  type ReceivedStream,
  receiveStream,
  StorageOutage,
} from './media/index.ts'
import { systemClock as clock } from './platform/clock.ts'
import { isDatabaseOutage, makeDatabase } from './platform/database/index.ts'
import { makeLogger } from './platform/logger.ts'

/** What the acceptor sends with the socket. It holds secrets, so it crosses by IPC, not by arguments. */
export interface LiveStreamOrder {
  handover: Parameters<typeof receiveStream>[0]['handover']
  stream: AcceptedStream
  config: Config
  database: { url: string; ssl: boolean; verifyCertificate: boolean }
  ffmpeg: Ffmpeg
}

const AGAIN_MS = 500
/** How long the last pieces wait for a database that is away, once the stream has ended. */
const PATIENCE_MS = 3_600_000

process.once('message', (order: LiveStreamOrder, socket: unknown) => {
  const silenceMs = order.config.vireo.live.no_data_timeout
  // In the same turn, so that no event of the socket is missed.
  const received = socket instanceof Socket ? receiveStream({ socket, handover: order.handover, limits: { silenceMs } }) : undefined
  take(order, received).then(
    () => process.exit(),
    // Its acceptor reports the loss.
    (error: unknown) => {
      makeLogger(order.config.log).error({ err: error, session: order.stream.sessionId }, 'a live stream broke')
      process.exit(1)
    },
  )
})

async function take({ stream, config, database, ffmpeg }: LiveStreamOrder, received: ReceivedStream | undefined): Promise<void> {
  const { sessionId, generation, videoUuid, isPrivate, latencyMode, nextSequence, isPlanned } = stream
  const logger = makeLogger(config.log)
  const db = await makeDatabase({ ...database, poolMax: 2, entities: [LivePiece, LiveSession, VideoLive], migrations: [], logger })
  const { attempts } = config.vireo.jobs.types['video-live-ending']
  const tell = makeDetachedTell({
    db,
    clock,
    lockTimeoutMs: config.vireo.runtime.lock_timeout,
    jobs: { 'video-live-ending': { queue: 'media', attempts, priority: 0 } },
  })
  const sessions = makeLiveSessions({
    db,
    tell,
    clock,
    config: () => config,
    // Not before it is needed, which is after the first piece: what it imports takes a while.
    quotaLeft: async (reader, userId) => (await import('./actors/video/quota.ts')).quotaLeft(reader, userId),
  })

  let endedAt = received ? undefined : performance.now()
  void received?.ended.then(() => {
    endedAt = performance.now()
  })

  /** Reports that this process lives, until another connection replaces it or the session has ended: then nothing of it is wanted. */
  const replaced = new AbortController()
  let isCut = false
  async function report({ quietMs, stop }: ReceivedStream): Promise<void> {
    for (;;) {
      await pause(REPORT_EVERY, undefined, { ref: false })
      if (isCut) return
      // Pieces that are not stored yet are waited for. A database that is away may say more soon.
      const quiet = endedAt === undefined ? quietMs() : 0
      if (await sessions.reportAlive(stream, quiet).catch(() => true)) continue
      stop('The stream has ended, or another connection continues it.')
      replaced.abort()
      return
    }
  }
  if (received) void report(received)

  /** Waits for a database or a store that is away: the pieces are safe on the disk, and the publisher sends on. */
  async function persist<T>(write: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await write()
      } catch (error) {
        const isBusy = error instanceof DomainError && error.kind === 'busy'
        if (!isBusy && !isDatabaseOutage(error) && !(error instanceof StorageOutage)) throw error
        if (endedAt !== undefined && performance.now() - endedAt > PATIENCE_MS) throw error
        await pause(AGAIN_MS)
      }
    }
  }

  async function storePiece({ path, sequence, seconds, bytes, sha256, startsAt }: Piece): Promise<void> {
    const name = pieceName(0, sequence)
    // Before players can ask for the master playlist, which they read once.
    const planned = sequence === nextSequence && !isPlanned ? await planOf(path) : undefined
    await persist(() => pieces.put(hlsFile(videoUuid, name, isPrivate), { path }))
    const piece = { generation, sequence, seconds, bytes, sha256, startsAt, isPrivate, ...planned }
    const goesOn = await persist(() => sessions.addPiece(sessionId, piece))
    if (!goesOn) received?.stop('The stream exceeds a limit of this server.')
  }

  /** Undefined if the piece cannot be probed: then there is only the stream as it is received. */
  async function planOf(path: string): Promise<{ plan: LivePlan; isRemote: boolean } | undefined> {
    try {
      const { transcoding } = config.live
      const made = await probe({ ffmpeg, path, timeoutMs: config.vireo.media.probe_timeout })
      const isForThem = transcoding.enabled && transcoding.remote_runners.enabled
      const isRemote = await persist(() => isForRunners(db, { clock, config: () => config }, isForThem))
      const plan = planLive(made, transcoding, { isRemote })
      return { plan, isRemote: isRemote && plan.encoded.length > 0 }
    } catch (error) {
      logger.warn({ err: error, session: sessionId }, 'the renditions of a live stream cannot be planned')
      return undefined
    }
  }

  const owner = leaseOwner()
  const { store } = openStore(config, owner)
  const pieces = storeOfPieces(store, config)
  const pendingFiles = makePendingFiles({ db, store, clock, logger, leases: { isGone: isDeadHere } })
  const work = workFolder('live', `${sessionId}-${generation}`)
  await persist(() => pendingFiles.reserve(owner, [work]))
  const folder = await store.workFolder(work.name)
  try {
    const end = received
      ? await cutAll(received, {
          ffmpeg,
          folder,
          seconds:
            (latencyMode === latencyModes.small ? config.vireo.live.small_latency_segment_duration : config.vireo.live.segment_duration) /
            1000,
          firstSequence: nextSequence,
          isContinuation: generation > 1,
          onPiece: storePiece,
          signal: replaced.signal,
          clock,
          logger,
          niceness: config.vireo.media.nice_live,
        })
      : ({ type: 'LOST', generation } as const)
    await persist(() => sessions.end(sessionId, end)).catch(ignoreReplaced)
  } catch (error) {
    // Another connection continues the session, or it was stopped.
    ignoreReplaced(error)
  } finally {
    received?.stop('The stream has ended.')
    await pendingFiles
      .discard([work])
      .catch((error: unknown) => logger.warn({ err: error }, 'the folder of a live stream is left for later'))
    await db.close()
  }

  async function cutAll(stream: ReceivedStream, options: Omit<Parameters<typeof cutPieces>[0], 'flv'>): Promise<StreamEnd> {
    const cut = await cutPieces({ ...options, flv: stream.flv })
    isCut = true
    const { reason, detail } = await stream.ended
    logger.info({ session: sessionId, generation, reason, detail, cut }, 'a live stream has ended')
    if (cut.reason === 'aborted') return { type: 'LOST', generation }
    const error = errorOf(cut, reason)
    if (error) return { type: 'FAILED', generation, error }
    return { type: reason === 'finished' ? 'FINISHED' : 'LOST', generation }
  }
}

/** The contract's error for a stream that cannot be used; undefined for one that only ended. */
function errorOf({ reason }: CutEnd, end: string): Extract<StreamEnd, { type: 'FAILED' }>['error'] | undefined {
  if (reason === 'unsupported' || reason === 'invalid' || end === 'invalid') return 'invalid-input'
  return reason === 'failed' ? 'ffmpeg-error' : undefined
}

function ignoreReplaced(error: unknown): void {
  if (!(error instanceof DomainError && (error.kind === 'conflict' || error.kind === 'not_found'))) throw error
}
