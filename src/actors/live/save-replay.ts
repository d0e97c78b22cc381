// The recording of a stream: the job `video-live-ending` joins its pieces into the file of a video. A single live becomes that video itself, each
// session of a permanent live gets a video of its own.

import { type Ffmpeg, type FileRef, hlsFile, joinPieces, MediaError, pieceName, type Store } from '../../media/index.ts'
import type { Aliased } from '../../platform/database/index.ts'
import { newUuid } from '../../platform/ids.ts'
import { type ActorDeps, advance, DomainError, type JobContext, PermanentFailure, takes, type Unit } from '../runtime/index.ts'
import {
  type AwaitedVideos,
  type CreateVideo,
  type InspectFile,
  type Leases,
  type NewVideoFields,
  type PendingFiles,
  videoLifecycle,
  workFolder,
} from '../video/index.ts'
import { Video } from '../video/video.entity.ts'
import { LiveSession, VideoLive } from './live.entity.ts'
import { moveSession, settingsOf, withSession } from './live.lifecycle.ts'

export type SaveReplayDeps = ActorDeps & {
  store: Store
  ffmpeg: Ffmpeg
  pendingFiles: PendingFiles
  leases: Leases
  inspectFile: InspectFile
  createVideo: CreateVideo
  awaitedVideos: AwaitedVideos
}

/** What the recording is made of. */
interface Recording {
  sessionId: number
  videoId: number
  uuid: string
  isPermanent: boolean
  privacy: number
  blocked: boolean
  userId: number
  startedAt: Date
  fields: NewVideoFields
  pieces: { sequence: number; generation: number; isPrivate: boolean }[]
}

/** What a replay takes over from the live. */
type CopiedFields = Omit<NewVideoFields, 'privacy' | 'waitTranscoding' | 'schedule' | 'originallyPublishedAt'> &
  Aliased<Video, 'originallyPublishedAt'>

/** Registers the job. */
export function saveReplays(deps: SaveReplayDeps): void {
  const { db, tell, registry, config, store, ffmpeg, pendingFiles, leases, inspectFile, createVideo, awaitedVideos } = deps

  const end = (id: number, type: 'SAVED' | 'SAVE_FAILED'): Promise<void> =>
    withSession(deps, id, async (unit, session) => {
      if (session.state === 'ending') moveSession(unit, session, { type }, settingsOf(deps))
    })

  registry.job('video-live-ending', {
    queue: 'media',
    run: ({ data, signal }) => run(Number(data.liveSessionId), signal),
    failed: ({ data }) => end(Number(data.liveSessionId), 'SAVE_FAILED'),
  })

  async function run(sessionId: number, signal: JobContext['signal']): Promise<void> {
    const recording = await findRecording(sessionId)
    if (!recording) return await end(sessionId, 'SAVED')
    const work = workFolder('live', newUuid())
    await pendingFiles.reserve(leases.owner, [work])
    try {
      const { media } = config().vireo
      const path = await joinPieces({
        ffmpeg,
        store,
        generations: generationsOf(recording),
        folder: await store.workFolder(work.name),
        limits: { stallMs: media.stall_timeout, maxMemoryBytes: media.max_memory },
        niceness: media.nice,
        signal,
      })
      if (recording.isPermanent) await createReplay(recording, path, signal)
      else await becomeReplay(recording, path, signal)
    } catch (error) {
      if (error instanceof MediaError && error.reason === 'failed') throw new PermanentFailure(error.message, { cause: error })
      throw error
    } finally {
      await pendingFiles.discard([work])
    }
  }

  /** Undefined if there is nothing to save: no recording is wanted, nothing was received, or the live is gone. */
  async function findRecording(sessionId: number): Promise<Recording | undefined> {
    const [found] = await db.query<Omit<Recording, 'sessionId' | 'fields'> & CopiedFields>(
      `select s.video_id as "videoId", v.uuid, l.permanent_live as "isPermanent", coalesce(s.replay_privacy, v.privacy) as privacy,
         v.blocked, a.user_id as "userId", s.started_at as "startedAt", v.channel_id as "channelId", v.name, v.category, v.licence,
         v.language, v.nsfw, v.description, v.support, v.comments_policy as "commentsPolicy", v.download_enabled as "downloadEnabled",
         v.tags, v.originally_published_at as "originallyPublishedAt",
         array(select password from video_password where video_id = v.id) as passwords,
         (select jsonb_agg(jsonb_build_object('sequence', sequence, 'generation', generation, 'isPrivate', is_private) order by sequence)
          from live_piece where session_id = s.id) as pieces
       from live_session s join video v on v.id = s.video_id join video_live l on l.video_id = v.id
         join channel c on c.id = v.channel_id join account a on a.id = c.account_id
       where s.id = $1 and s.state = 'ending' and s.save_replay and v.state <> 'removed'`,
      [sessionId],
    )
    if (!found?.pieces) return undefined
    const { videoId, uuid, isPermanent, privacy, blocked, userId, startedAt, pieces, ...texts } = found
    const day = startedAt.toLocaleString('en-US', { timeZone: 'UTC' })
    const fields = {
      ...texts,
      privacy,
      originallyPublishedAt: texts.originallyPublishedAt?.toISOString() ?? null,
      name: `${texts.name.slice(0, LONGEST_NAME - day.length - 3)} - ${day}`,
      waitTranscoding: true,
      schedule: null,
    }
    return { sessionId, videoId, uuid, isPermanent, privacy, blocked, userId, startedAt, pieces, fields }
  }

  async function becomeReplay({ sessionId, videoId, privacy, blocked }: Recording, path: string, signal: AbortSignal): Promise<void> {
    const video = { privacy, blocked, waitTranscoding: true }
    const draft = await inspectFile.inspect({ video, inputFilename: FILE_NAME, path, pictures: {}, signal })
    await storeOrDiscard(draft, path, () =>
      tell({ aggregate: 'video', id: videoId }, async (unit) => {
        const live = await unit.em.findOneOrFail(Video, videoId)
        await saved(unit, sessionId, videoId)
        // The end of the stream may not have reached the video yet.
        if (takes(videoLifecycle, live, STREAM_ENDED)) advance(unit, videoLifecycle, live, STREAM_ENDED)
        await awaitedVideos.becomeReplay(unit, live, { draft, privacy })
        unit.em.remove(await unit.em.findOneOrFail(VideoLive, { videoId }))
      }),
    )
  }

  async function createReplay(recording: Recording, path: string, signal: AbortSignal): Promise<void> {
    const { sessionId, videoId, blocked, userId, fields } = recording
    const draft = await createVideo.inspect({ userId, fields, blocked, inputFilename: FILE_NAME, path, pictures: {}, signal })
    await storeOrDiscard(draft, path, () =>
      tell.create(async (unit) => {
        // Its block may change meanwhile.
        await unit.query('select id from video where id = $1 for no key update', [videoId])
        const { id } = await createVideo.insert(unit, draft, { exceedsQuota: true, madeFrom: videoId })
        await saved(unit, sessionId, id)
      }),
    )
  }

  /** A draft that was not stored is removed. */
  async function storeOrDiscard(
    draft: Awaited<ReturnType<InspectFile['inspect']>>,
    path: string,
    write: () => Promise<void>,
  ): Promise<void> {
    await pendingFiles.reserve(leases.owner, [draft.place])
    try {
      await inspectFile.place(draft, path)
      await write()
    } catch (error) {
      const name = draft.place.name
      const [stored] = await db.query(
        'select 1 from video_source where kept_filename = $1 union all select 1 from video_file where filename = $1',
        [name.slice(name.lastIndexOf('/') + 1)],
      )
      // The response to a commit can be lost. Then the rows own the files.
      if (!stored) await inspectFile.discard(draft, { source: true })
      throw error
    }
  }

  async function saved(unit: Unit, sessionId: number, replayVideoId: number): Promise<void> {
    await unit.query('select id from live_session where id = $1 for no key update', [sessionId])
    const session = await unit.em.findOneOrFail(LiveSession, sessionId)
    if (session.state !== 'ending') throw new DomainError('gone', 'This recording is stored already.')
    session.replayVideoId = replayVideoId
    moveSession(unit, session, { type: 'SAVED' }, settingsOf(deps))
  }
}

const STREAM_ENDED = { type: 'STREAM_ENDED', again: false } as const
const FILE_NAME = 'live.mp4'
/** Characters, as the contract limits the name of a video. */
const LONGEST_NAME = 120

/** A piece stays where it was stored, unless a block or its end moved the files of the live. */
function generationsOf({ uuid, pieces }: Recording): FileRef[][][] {
  const generations = Map.groupBy(pieces, ({ generation }) => generation)
  return [...generations.values()].map((of) =>
    of.map(({ sequence, isPrivate }) => [isPrivate, !isPrivate].map((place) => hlsFile(uuid, pieceName(0, sequence), place))),
  )
}
