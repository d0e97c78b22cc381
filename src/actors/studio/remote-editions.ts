// Editions by remote runners: offered as one job, whose result is checked and stored as that of this server, under the lease of the edition.

import { type FileRef, MediaError, planEdition, probeRendition } from '../../media/index.ts'
import { mostBytesOf, notWanted, type Result, type RunnerJob, withResultLease } from '../runner/index.ts'
import { hasRunnerJob, offerRunnerJob, type Unit } from '../runtime/index.ts'
import { type EditionDeps, type EditionSteps, isFinal, type Task } from './edition.ts'
import { editionOf, payloadOf, privatePayloadOf, REMOTE_TYPE, remoteEditionOf, wantedOf } from './remote-jobs.ts'

/** Registers the kind of work. */
export function makeRemoteEditions(deps: EditionDeps & EditionSteps) {
  const { db, registry, config, ffmpeg, works, rowLeases, find, claim, withOwned, withInputs, sourceOf, storeResult, fail } = deps

  works.add(REMOTE_TYPE, {
    payload: payloadOf,
    privatePayload: privatePayloadOf,
    input,
    results: async (job) => ({ videoFile: mostBytesOf(editionOf(job)) }),
    take,
  })

  registry.on('RunnerJobFailed', 'studio', async ({ type, data, error }) => {
    if (type === REMOTE_TYPE) await fail(Number(data.editionId), error)
  })

  async function input(job: RunnerJob, file: string): Promise<FileRef | undefined> {
    const edition = await find(editionOf(job).editionId)
    if (!edition) throw notWanted()
    const { picture, sound } = await sourceOf(edition)
    if (file === 'max-quality') return picture
    if (file === 'max-quality/audio') return sound
    const task = edition.tasks.find(({ filename }) => filename !== null && file === `studio/task-files/${filename}`)
    return task && { kind: 'uploads', name: task.filename ?? '' }
  }

  function take(job: RunnerJob, { files: { videoFile: path = '' } }: Result, done: (unit: Unit) => Promise<void>, signal: AbortSignal) {
    const edition = editionOf(job)
    const id = edition.editionId
    const isWanted = async (): Promise<boolean> => (await find(id)) !== undefined
    return withResultLease({ rowLeases, claim: () => claim(id), isWanted, signal }, async (task, signal) => {
      await probeRendition({ ffmpeg, wanted: wantedOf(edition), path, signal })
      await storeResult(task, { path, retiming: edition.retiming }, signal, done).catch((error: unknown) => {
        // The same result would be refused again.
        throw isFinal(error) ? new MediaError('failed', error.message, { cause: error }) : error
      })
    })
  }

  return {
    /** Does nothing while a job is open. Throws like `planEdition`. */
    async offer(task: Task, signal: AbortSignal): Promise<void> {
      const { id: editionId, videoId, uuid: video, tasks } = task
      if (await hasRunnerJob(db, REMOTE_TYPE, videoId)) return
      const { transcoding, vireo } = config()
      const source = await sourceOf(task)
      const options = { ffmpeg, signal, maxFps: transcoding.fps.max, probeTimeoutMs: vireo.media.probe_timeout }
      const plan = await withInputs(task, source, signal, (inputs) => planEdition({ ...inputs, ...options }))
      const data = remoteEditionOf({ editionId, videoId, video, isSoundApart: source.sound !== undefined, tasks }, plan)
      await withOwned(task, (unit) => offerRunnerJob(unit, { type: REMOTE_TYPE, data, priority: vireo.jobs.priorities.video_studio }))
    },
  }
}
