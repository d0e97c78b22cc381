// Transcodings by remote runners: the ladder is planned here and offered as one job for each rendition. A result is checked and stored by the
// same code as the renditions of this server, under the lease of the transcoding, so that one process at a time writes its playlist.

import { dirname, join } from 'node:path'
import {
  describeRemoteRendition,
  type FileRef,
  type LadderFile,
  type LadderPlan,
  type LadderSettings,
  MAX_PLAYLIST_BYTES,
  type MediaProbe,
  outlineOf,
  planLadder,
  probeRendition,
  runLadder,
} from '../../media/index.ts'
import type { Columns } from '../../platform/database/index.ts'
import { newUuid } from '../../platform/ids.ts'
import { mostBytesOf, type Result, type RunnerJob, withResultLease } from '../runner/index.ts'
import { advance, contextOf, insertRunnerJob, isOpenRunnerJob, type RowLeases, type Unit } from '../runtime/index.ts'
import type { DrawPictures } from '../video/index.ts'
import { type Thumbnail, thumbnailTypes } from '../video/video.entity.ts'
import { dataOf, payloadOf, privatePayloadOf, remoteRenditionsOf, remoteTypes, wantedOf } from './remote-jobs.ts'
import { findSourceFile } from './source-file.ts'
import { type StoreRenditions, withOwned } from './store-renditions.ts'
import type { Task } from './task.ts'
import { isActive, type Transcoding, transcodingLifecycle } from './transcoding.entity.ts'
import { cancelRunnerJobs } from './transcoding.writes.ts'
import { settingsOf, type TranscodingDeps } from './transcoding-state.ts'

/** What the local worker does with renditions, whoever makes them. */
export interface LocalSteps {
  rowLeases: RowLeases
  storeRenditions: StoreRenditions
  claim(id: number): Promise<Task | undefined>
  announceRenditions(task: Task): Promise<void>
  complete(task: Task): Promise<void>
  isStored(id: number): Promise<boolean>
  fail(id: number, error: string): Promise<void>
  settingsFor(task: Task): LadderSettings
}

/** True if runners may still make renditions of the transcoding. */
export async function hasRunnerJobs(unit: Pick<Unit, 'query'>, transcodingId: number): Promise<boolean> {
  const open = await unit.query(
    `select 1 from job j where j.uuid is not null and j.data->>'transcodingId' = $1 and ${isOpenRunnerJob('j')} limit 1`,
    [String(transcodingId)],
  )
  return open.length > 0
}

/** Registers the kinds of work. */
export function makeRemoteTranscodings(deps: TranscodingDeps & DrawPictures & LocalSteps) {
  const { db, registry, config, logger, ffmpeg, works, rowLeases, drawPictures } = deps

  for (const type of remoteTypes) {
    const playlist = type === 'vod-hls-transcoding' ? { resolutionPlaylistFile: MAX_PLAYLIST_BYTES } : {}
    works.add(type, {
      payload: payloadOf,
      privatePayload: privatePayloadOf,
      input,
      results: async ({ data: { resolution, fps, seconds } }) => ({
        videoFile: mostBytesOf({ resolution: Number(resolution), fps: Number(fps), seconds: Number(seconds) }),
        ...playlist,
      }),
      take,
    })
  }

  registry.on('RunnerJobFailed', 'transcoding', async ({ type, data, error }) => {
    if (remoteTypes.some((one) => one === type)) await deps.fail(Number(data.transcodingId), error)
  })

  async function input({ data }: RunnerJob, file: string): Promise<FileRef | undefined> {
    const videoId = Number(data.videoId)
    if (file === 'previews/max-quality') {
      // The job that draws it may run later than this one.
      await drawPictures(videoId, AbortSignal.timeout(config().vireo.media.probe_timeout))
      const [preview] = await db.query<Columns<Thumbnail, 'filename'>>(
        `select filename from thumbnail where video_id = $1 and type = ${thumbnailTypes.preview}`,
        [videoId],
      )
      return preview && { kind: 'previews', name: preview.filename }
    }
    const [source] = await db.query<{ kept: string | null }>('select kept_filename as kept from video_source where video_id = $1', [
      videoId,
    ])
    const { picture, sound } = await findSourceFile(deps, { videoId, kept: data.merged ? null : (source?.kept ?? null) })
    if (file === 'max-quality') return picture
    return file === 'max-quality/audio' ? sound : undefined
  }

  function take(job: RunnerJob, result: Result, done: (unit: Unit) => Promise<void>, signal: AbortSignal): Promise<void> {
    const id = Number(job.data.transcodingId)
    return withResultLease({ rowLeases, claim: () => deps.claim(id), isWanted: () => isWanted(id), signal }, async (task, signal) => {
      await withFiles({ job, result, task, signal }, (source, files) => deps.storeRenditions({ ...task, source, done }, files))
      // The job is completed. If the rest fails, the time-out of the transcoding makes up for it.
      await announce(task).catch((error: unknown) => logger.warn({ err: error, transcoding: task.id }, 'a rendition is announced later'))
    })
  }

  async function announce(task: Task): Promise<void> {
    await deps.announceRenditions(task)
    if (await deps.isStored(task.id)) await deps.complete(task)
  }

  async function isWanted(id: number): Promise<boolean> {
    const [row] = await db.query<Columns<Transcoding, 'state'>>('select state from transcoding where id = $1', [id])
    return row !== undefined && isActive(row.state)
  }

  interface Received {
    job: RunnerJob
    result: Result
    task: Task
    signal: AbortSignal
  }

  /** Calls `use` with the renditions of a checked result. Throws MediaError. */
  async function withFiles(
    { job, result: { files }, task, signal }: Received,
    use: (source: MediaProbe, files: LadderFile[]) => Promise<void>,
  ): Promise<void> {
    const path = files.videoFile ?? ''
    const folder = dirname(path)
    const wanted = wantedOf(job)
    if (job.type !== 'vod-audio-merge-transcoding') {
      const playlistPath = files.resolutionPlaylistFile
      const { file, found } = await describeRemoteRendition({ ffmpeg, wanted, path, playlistPath, folder, newUuid, signal })
      return await use(found, [file])
    }
    const source = await probeRendition({ ffmpeg, wanted, path, signal })
    const { transcoding, vireo } = config()
    await runLadder({
      ffmpeg,
      plan: planLadder({ probe: source, settings: onlyOriginal(deps.settingsFor(task)) }),
      input: path,
      signal,
      newUuid,
      workFolder: join(folder, 'merged'),
      threads: transcoding.threads,
      limits: { stallMs: vireo.media.stall_timeout, maxMemoryBytes: vireo.media.max_memory },
      niceness: vireo.media.nice,
      onFiles: (made) => use(source, made),
    })
  }

  return {
    /** Offers the renditions of a ladder to remote runners; returns true if they have made all of them before. */
    offer(task: Task, { plan, hasSoundApart }: { plan: LadderPlan; hasSoundApart: boolean }): Promise<boolean> {
      return withOwned(deps, task.id, task.owner, async ({ unit, video, transcoding }) => {
        const outline = `runners ${outlineOf(plan)}`
        const before = contextOf(transcodingLifecycle, transcoding)
        const settings = settingsOf(deps)
        const isMade = before.plan === outline && before.made === before.total
        const goesOn = before.plan === outline && (isMade || (await hasRunnerJobs(unit, task.id)))
        if (transcoding.state === 'running' && !goesOn) {
          advance(unit, transcodingLifecycle, transcoding, { type: 'TIMED_OUT', settings, isReleased: true }, settings)
        }
        const renditions = remoteRenditionsOf(plan)
        if (transcoding.state === 'planned') {
          const { total, made } = goesOn ? before : { total: renditions.length, made: 0 }
          advance(unit, transcodingLifecycle, transcoding, { type: 'STARTED', total, made, plan: outline }, settings)
        }
        if (isMade) advance(unit, transcodingLifecycle, transcoding, { type: 'PACKAGED' }, settings)
        if (goesOn) return isMade
        await cancelRunnerJobs(unit, task.id)
        const [provisional] = await unit.query<{ id: number }>('select id from video_file where video_id = $1 and provisional', [video.id])
        const facts = {
          transcodingId: task.id,
          videoId: video.id,
          video: video.uuid,
          plan,
          hasSoundApart,
          inputFileId: provisional?.id ?? null,
          isNewVideo: task.outputs === null,
        }
        const ids: number[] = []
        for (const rendition of renditions) {
          const parentId = rendition.parent === null ? null : (ids[rendition.parent] ?? null)
          const { type } = rendition
          const priority = config().vireo.jobs.priorities.transcoding
          ids.push(await insertRunnerJob(unit, { type, data: dataOf(rendition, facts), priority, parentId }))
        }
        return false
      })
    },
  }
}

/** The formats of the configuration, in the size of the source. */
const onlyOriginal = (settings: LadderSettings): LadderSettings => ({
  ...settings,
  always_transcode_original_resolution: true,
  resolutions: Object.fromEntries(Object.keys(settings.resolutions).map((name) => [name, false])) as LadderSettings['resolutions'],
})
