// Makes an edited video in a work folder. It can be killed at any moment and started again with the same folder: a finished result is
// reused, an unfinished one is removed.

import { access, mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import type { Ffmpeg } from '../ffmpeg/find.ts'
import { unfragment } from '../ffmpeg/join.ts'
import type { MediaProbe } from '../ffmpeg/media-probe.ts'
import { probe } from '../ffmpeg/probe.ts'
import { type RunLimits, runFfmpeg } from '../ffmpeg/run.ts'
import { killOrphan } from '../process.ts'
import { studioCommand } from './command.ts'
import { planStudio, type StudioPlan, type StudioTask } from './plan.ts'
import type { Retiming } from './timeline.ts'
import { measureWatermark, renderWatermark } from './watermark.ts'

/** A task with the path of its file. */
export type EditTask =
  | { name: 'cut'; start?: number | undefined; end?: number | undefined }
  | { name: 'add-intro' | 'add-outro' | 'add-watermark'; path: string }

export interface EditVideoOptions {
  ffmpeg: Ffmpeg
  /** Paths of the files with the video's picture and sound: often the same. */
  picture: string
  sound: string
  tasks: readonly EditTask[]
  /** Configuration `transcoding.fps.max` and `transcoding.threads`; 0 threads means the number of cores. */
  maxFps: number
  threads: number
  /** A folder of this job. */
  workFolder: string
  limits: RunLimits
  /** Timeout of a probe in milliseconds. */
  probeTimeoutMs?: number
  niceness?: number
  signal?: AbortSignal | undefined
  /** 0 to 100. */
  onProgress?: (percent: number) => void
  onStart?: (process: { pid: number; plan: StudioPlan }) => void
}

const PID_FILE = 'ffmpeg.pid'

/** The plan of an edition that another machine makes. Throws like `editVideo`. */
export async function planEdition(
  options: Pick<EditVideoOptions, 'ffmpeg' | 'picture' | 'sound' | 'tasks' | 'maxFps' | 'probeTimeoutMs' | 'signal'>,
): Promise<StudioPlan> {
  const { picture, sound, maxFps } = options
  const look = lookWith(options)
  return planStudio({
    video: await look(picture),
    sound: sound === picture ? undefined : await look(sound),
    tasks: await Promise.all(options.tasks.map((task) => lookedAt(task, look))),
    maxFps,
  })
}

/**
 * The path of the result in the work folder, and the retiming unless its times stayed. Throws MediaError like `runFfmpeg` and `probe`, and
 * `empty` if a cut leaves nothing.
 */
export async function editVideo(options: EditVideoOptions): Promise<{ path: string; retiming: Retiming | undefined }> {
  const { ffmpeg, picture, sound, workFolder, limits, niceness, signal, onProgress, onStart } = options
  await mkdir(workFolder, { recursive: true })
  await killOrphan(join(workFolder, PID_FILE), workFolder)
  const look = lookWith(options)
  const video = await seekable(options, { path: picture, as: 'picture.mp4', look })
  const heard = sound === picture ? undefined : await seekable(options, { path: sound, as: 'sound.mp4', look })
  const tasks = await Promise.all(options.tasks.map((task) => lookedAt(task, look)))
  const plan = planStudio({ video: video.probe, tasks, maxFps: options.maxFps, sound: heard?.probe })
  const result = join(workFolder, 'result.mp4')
  if (await isThere(result)) return { path: result, retiming: plan.retiming }
  const target = join(workFolder, 'unfinished.mp4')
  await rm(target, { force: true })
  const threads = options.threads === 0 ? availableParallelism() : options.threads
  await runFfmpeg({
    ffmpeg,
    limits,
    signal,
    duration: plan.duration,
    pidFile: join(workFolder, PID_FILE),
    spec: studioCommand({
      plan,
      target,
      threads,
      canToneMap: ffmpeg.canToneMap,
      asFiltered: ffmpeg.asFiltered,
      paths: { picture: video.path, sound: (heard ?? video).path, tasks: await pathsOf(options, plan) },
    }),
    ...(niceness === undefined ? {} : { niceness }),
    ...(onProgress ? { onProgress } : {}),
    ...(onStart ? { onStart: ({ pid }) => onStart({ pid, plan }) } : {}),
  })
  await rename(target, result)
  return { path: result, retiming: plan.retiming }
}

const lookWith =
  ({ ffmpeg, probeTimeoutMs, signal }: Pick<EditVideoOptions, 'ffmpeg' | 'probeTimeoutMs' | 'signal'>) =>
  (path: string): Promise<MediaProbe> =>
    probe({ ffmpeg, path, timeoutMs: probeTimeoutMs, signal })

/**
 * The file itself or, if ffmpeg has to seek in its fragments, an unfragmented copy: older releases loop forever if a fragment has nothing
 * of a stream.
 */
async function seekable(
  { ffmpeg, tasks, workFolder, limits, signal }: EditVideoOptions,
  { path, as, look }: { path: string; as: string; look: (path: string) => Promise<MediaProbe> },
): Promise<{ path: string; probe: MediaProbe }> {
  const found = await look(path)
  const seeks = tasks.some((task) => task.name === 'cut' && (task.start ?? 0) > 0)
  if (!seeks || !found.isFragmented) return { path, probe: found }
  const target = join(workFolder, as)
  await unfragment({ ffmpeg, source: path, target, limits, signal })
  return { path: target, probe: await look(target) }
}

async function lookedAt(task: EditTask, look: (path: string) => Promise<MediaProbe>): Promise<StudioTask> {
  switch (task.name) {
    case 'cut':
      return task
    case 'add-watermark':
      return { name: task.name, size: await measureWatermark(task.path) }
    default:
      return { name: task.name, probe: await look(task.path) }
  }
}

/** The image library decodes watermarks and encodes them again: ffmpeg gets only local pictures. */
async function pathsOf({ tasks, workFolder }: EditVideoOptions, plan: StudioPlan): Promise<Map<number, string>> {
  const paths = new Map<number, string>()
  for (const [index, task] of tasks.entries()) {
    if (task.name === 'cut') continue
    const mark = plan.marks.get(index)
    if (!mark) {
      paths.set(index, task.path)
      continue
    }
    const path = join(workFolder, `watermark-${index}.png`)
    await writeFile(path, await renderWatermark(task.path, mark))
    paths.set(index, path)
  }
  return paths
}

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )
