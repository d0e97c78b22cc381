// Makes the renditions of a plan in a work folder, step by step, and describes each file. It can be killed at any moment and started again
// with the same folder: finished steps are reused, unfinished ones are removed. Each attempt writes into a subfolder of its own, so that
// concurrent attempts, one of which has lost its lease, do not interfere.

import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { basename, join } from 'node:path'
import { z } from 'zod'
import { MediaError } from '../errors.ts'
import { killOrphan } from '../process.ts'
import { type CommandOptions, copyCommand, encodeCommand, packageCommand, type RenditionFiles } from './command.ts'
import type { Ffmpeg } from './find.ts'
import { longestDuration } from './longest-duration.ts'
import type { FileMetadata } from './metadata.ts'
import { type LadderPlan, type LadderStep, outlineOf, type RenditionPlan, stepsOf } from './plan.ts'
import { bandwidthOf, type HlsEntry, inspectFragmented, parseMediaPlaylist } from './playlists.ts'
import { probe } from './probe.ts'
import { toNumber } from './rate.ts'
import type { FfmpegCommandSpec } from './run.ts'
import { type RunLimits, runFfmpeg } from './run.ts'

/** A finished file in the work folder. The receiver moves it to the store. */
export interface LadderFile {
  type: 'hls' | 'web-video'
  resolution: number
  /** px; 0 for sound only. */
  width: number
  height: number
  /** Frames per second as shown to clients; 0 for sound only. */
  fps: number
  hasVideo: boolean
  hasAudio: boolean
  /** Bytes. */
  size: number
  /** Its name in the store: `<uuid>-<resolution>-fragmented.mp4` or `<uuid>-<resolution>.mp4`. */
  filename: string
  path: string
  metadata: FileMetadata
  /** For HLS: the media playlist to store with it, and the data for the master and the hashes. */
  hls: { entry: HlsEntry; playlistPath: string } | undefined
}

export interface RunLadderOptions {
  ffmpeg: Ffmpeg
  plan: LadderPlan
  /** The source. */
  input: string
  /** A JPEG to show under an audio file. */
  stillPath?: string | undefined
  /**
   * A folder of this job; removed at the end. After a failure the finished steps stay in it for another attempt; the caller removes it if
   * there will be none.
   */
  workFolder: string
  /** Configuration `transcoding.threads`; 0 means the number of cores. */
  threads: number
  limits: RunLimits
  niceness?: number
  signal?: AbortSignal | undefined
  newUuid: () => string
  /** Steps whose files an earlier attempt has stored. */
  skip?: readonly LadderStep[]
  /** 0 to 100 over all steps, monotonic. */
  onProgress?: (percent: number) => void
  onStart?: (process: { pid: number; commandLine: string; step: LadderStep | 'package' }) => void
  /**
   * Called when the files of a step are complete. They may be moved away. After a kill it can be called again with the same file names, so
   * it must be idempotent by name.
   */
  onFiles: (files: LadderFile[], step: LadderStep, playlist: PlaylistNames) => Promise<void>
}

/** Names of the master playlist; the same for every attempt at an outline in the same folder. */
export interface PlaylistNames {
  masterFilename: string
  hashesFilename: string
}

export const newPlaylistNames = (newUuid: () => string): PlaylistNames => ({
  masterFilename: `${newUuid()}-master.m3u8`,
  hashesFilename: `${newUuid()}-segments-sha256.json`,
})

/** Progress at the end of each step, in per cent. */
const DONE_AFTER: Record<LadderStep, number> = { copy: 5, quick: 20, encode: 100 }
/** The share of a step for remuxing web videos. */
const PACKAGING = 0.05
const NAMES_FILE = 'names.json'
const PID_FILE = 'ffmpeg.pid'
/** Prefix of an attempt's folder. */
const TRY = 'try-'

/**
 * Runs the steps of a plan: the rendition that can be played soon, then one process for all others; after each the remuxing of web videos
 * if both kinds are wanted. Throws MediaError like `runFfmpeg`, and errors of `onFiles`.
 */
export async function runLadder(options: RunLadderOptions): Promise<void> {
  const { workFolder, plan, onProgress } = options
  await mkdir(workFolder, { recursive: true })
  const earlier = await endEarlierTries(workFolder)
  const { names, playlist } = await loadNames(options)
  const own = await mkdtemp(join(workFolder, TRY))
  const longest = longestDuration((await stat(options.input)).size)
  const work: Work = { ...options, names, playlist, own, earlier, longest }
  const skip = new Set(options.skip ?? [])
  let done = 0
  for (const { step, renditions } of stepsOf(plan)) {
    const share = { from: done, to: DONE_AFTER[step] }
    if (!skip.has(step)) await runStep(work, { step, renditions, share })
    done = share.to
  }
  await rm(workFolder, { recursive: true, force: true })
  onProgress?.(100)
}

/** An attempt at a ladder. */
interface Work extends RunLadderOptions {
  names: Names
  playlist: PlaylistNames
  /** The folder of this attempt. */
  own: string
  /** Folders of earlier attempts. */
  earlier: readonly string[]
  /** Longest plausible duration of the source in seconds. */
  longest: number
}

/** Ends processes of earlier workers, and removes their unfinished files. Returns the folders of those that finished a step. */
async function endEarlierTries(workFolder: string): Promise<string[]> {
  const names = (await readdir(workFolder)).filter((name) => name.startsWith(TRY))
  const kept: string[] = []
  for (const folder of names.map((name) => join(workFolder, name))) {
    await killOrphan(join(folder, PID_FILE), folder)
    // Another worker may be doing the same.
    const found = new Set(await readdir(folder).catch(() => []))
    const steps = Object.keys(DONE_AFTER)
    const unfinished = steps.filter((step) => !found.has(markerOf(step)))
    const isEmpty = unfinished.length === steps.length
    if (!isEmpty) kept.push(folder)
    const rubbish = isEmpty ? [folder] : unfinished.map((step) => join(folder, step))
    for (const path of rubbish) await rm(path, { recursive: true, force: true })
  }
  return kept
}

/** The marker of a finished step, with its files. */
const markerOf = (step: string): string => `${step}.json`

interface Share {
  from: number
  to: number
}

interface Step {
  step: LadderStep
  renditions: RenditionPlan[]
  share: Share
}

async function runStep(work: Work, { step, renditions, share }: Step): Promise<void> {
  const earlier = await loadDone(work, step, renditions)
  if (earlier) {
    if (await areTaken(work, earlier.files, step)) return
    // When the step is made again, the earlier files must not be found any more.
    await rm(earlier.marker, { force: true })
  }
  const folder = join(work.own, step)
  const files = await makeFiles(work, { step, renditions, share }).catch(async (error: unknown) => {
    await rm(folder, { recursive: true, force: true })
    throw error
  })
  await work.onFiles(files, step, work.playlist)
}

/** False if some of them are missing, for example after an interrupted receiver moved them elsewhere. */
async function areTaken({ onFiles, playlist }: Work, files: LadderFile[], step: LadderStep): Promise<boolean> {
  try {
    await onFiles(files, step, playlist)
    return true
  } catch (error) {
    if (error instanceof MediaError && error.reason === 'not-found') return false
    throw error
  }
}

async function makeFiles(work: Work, { step, renditions, share }: Step): Promise<LadderFile[]> {
  const { plan, input, stillPath, ffmpeg, names, own, signal } = work
  const folder = join(own, step)
  await mkdir(folder, { recursive: true })
  const filesOf = (rendition: RenditionPlan): RenditionFiles => pathsIn(folder, names, rendition.resolution)
  const threads = work.threads === 0 ? availableParallelism() : work.threads
  const command: CommandOptions = {
    plan,
    renditions,
    input,
    stillPath,
    threads,
    filesOf,
    canToneMap: ffmpeg.canToneMap,
    asFiltered: ffmpeg.asFiltered,
  }
  const middle = share.to - (share.to - share.from) * PACKAGING
  if (step === 'copy') {
    await run(work, step, copyCommand(command), share)
  } else {
    await run(work, step, encodeCommand(command), { from: share.from, to: middle })
    await run(work, 'package', packageCommand(command), { from: middle, to: share.to })
  }
  const files: LadderFile[] = []
  for (const rendition of renditions) {
    const paths = filesOf(rendition)
    if (plan.outputs.hls) files.push(await describeHls(work, rendition, paths))
    if (plan.outputs.webVideos) files.push(await describeFile(work, rendition, 'web-video', paths.webVideo))
  }
  if (signal?.aborted) throw new MediaError('aborted', 'The work was cancelled.')
  // The marker is renamed into place: the step becomes finished at that moment.
  const marker = join(own, markerOf(step))
  await writeFile(`${marker}.part`, JSON.stringify({ plan: outlineOf(plan), files }))
  await rename(`${marker}.part`, marker)
  return files
}

async function run(work: Work, step: LadderStep | 'package', spec: FfmpegCommandSpec | undefined, { from, to }: Share) {
  if (!spec) return
  const { ffmpeg, limits, signal, plan, longest, niceness, own, onProgress, onStart } = work
  await runFfmpeg({
    ffmpeg,
    spec,
    limits,
    longest,
    signal,
    duration: plan.duration,
    pidFile: join(own, PID_FILE),
    ...(niceness === undefined ? {} : { niceness }),
    ...(onProgress ? { onProgress: (percent: number) => onProgress(from + ((to - from) * percent) / 100) } : {}),
    ...(onStart ? { onStart: (process) => onStart({ ...process, step }) } : {}),
  })
}

type Probing = Pick<RunLadderOptions, 'ffmpeg' | 'signal'>

/** Describes a rendition in HLS. Throws MediaError if the playlist does not fit its file. */
export async function describeHls(
  options: Probing,
  rendition: RenditionPlan,
  paths: Pick<RenditionFiles, 'fragmented' | 'playlist'>,
): Promise<LadderFile> {
  const file = await describeFile(options, rendition, 'hls', paths.fragmented)
  const playlist = parseMediaPlaylist(await readFile(paths.playlist, 'utf8'))
  const { codecs, hashes } = await inspectFragmented(paths.fragmented, playlist)
  const { resolution, width, height, hasVideo, hasAudio, filename } = file
  const entry: HlsEntry = {
    resolution,
    width,
    height,
    hasVideo,
    hasAudio,
    filename,
    codecs,
    hashes,
    ...bandwidthOf(playlist, file.size),
    frameRate: rendition.video ? toNumber(rendition.video.rate) : 0,
    playlistFilename: basename(paths.playlist),
  }
  return { ...file, hls: { entry, playlistPath: paths.playlist } }
}

export async function describeFile(
  { ffmpeg, signal }: Probing,
  rendition: RenditionPlan,
  type: LadderFile['type'],
  path: string,
): Promise<LadderFile> {
  const found = await probe({ ffmpeg, path, signal })
  const { size } = await stat(path)
  return {
    type,
    path,
    size,
    resolution: rendition.resolution,
    width: found.video?.width ?? 0,
    height: found.video?.height ?? 0,
    fps: rendition.fps,
    hasVideo: found.video !== undefined,
    hasAudio: found.audio !== undefined,
    filename: basename(path),
    metadata: found.metadata,
    hls: undefined,
  }
}

const namesSchema = z.object({
  plan: z.string(),
  names: z.record(z.string(), z.object({ hls: z.string(), webVideo: z.string() })),
  playlist: z.object({ masterFilename: z.string(), hashesFilename: z.string() }),
})
type NamesFile = z.infer<typeof namesSchema>
type Names = NamesFile['names']

/**
 * The random part of each file's name, chosen once per job and outline, so that a retry makes the same names. Another outline has others,
 * so that stored files are not overwritten.
 */
async function loadNames({ plan, workFolder, newUuid }: RunLadderOptions): Promise<NamesFile> {
  const path = join(workFolder, NAMES_FILE)
  const outline = outlineOf(plan)
  const earlier = await readJson(path, namesSchema)
  if (earlier?.plan === outline) return earlier
  const renditions = [...(plan.copied ? [plan.copied] : []), ...plan.encoded]
  const names = Object.fromEntries(renditions.map(({ resolution }) => [`${resolution}`, { hls: newUuid(), webVideo: newUuid() }]))
  const chosen: NamesFile = { plan: outline, names, playlist: newPlaylistNames(newUuid) }
  await writeFile(`${path}.part`, JSON.stringify(chosen))
  await rename(`${path}.part`, path)
  return chosen
}

function pathsIn(folder: string, names: Names, resolution: number): RenditionFiles {
  const name = names[`${resolution}`]
  if (!name) throw new Error(`There is no name for the rendition ${resolution}.`)
  return {
    playlist: join(folder, `${name.hls}-${resolution}.m3u8`),
    fragmented: join(folder, `${name.hls}-${resolution}-fragmented.mp4`),
    webVideo: join(folder, `${name.webVideo}-${resolution}.mp4`),
  }
}

const document = z.record(z.string(), z.unknown())

const doneSchema = z.object({
  plan: z.string(),
  files: z.array(
    z.object({
      type: z.enum(['hls', 'web-video']),
      resolution: z.number(),
      width: z.number(),
      height: z.number(),
      fps: z.number(),
      hasVideo: z.boolean(),
      hasAudio: z.boolean(),
      size: z.number(),
      filename: z.string(),
      path: z.string(),
      metadata: z.object({ format: document, streams: z.array(document), chapters: z.array(document) }),
      hls: z
        .object({
          playlistPath: z.string(),
          entry: z.object({
            resolution: z.number(),
            width: z.number(),
            height: z.number(),
            frameRate: z.number(),
            hasVideo: z.boolean(),
            hasAudio: z.boolean(),
            bandwidth: z.number(),
            averageBandwidth: z.number(),
            codecs: z.array(z.string()),
            playlistFilename: z.string(),
            filename: z.string(),
            hashes: z.record(z.string(), z.string()),
          }),
        })
        .optional(),
    }),
  ),
})

/**
 * The files of a step that an earlier attempt finished for the same renditions, and its marker, or undefined. Files that the receiver has
 * moved away are included.
 */
async function loadDone(
  { plan, earlier }: Work,
  step: LadderStep,
  renditions: RenditionPlan[],
): Promise<{ marker: string; files: LadderFile[] } | undefined> {
  for (const folder of earlier) {
    const marker = join(folder, markerOf(step))
    const done = await readJson(marker, doneSchema)
    const made = new Set(done?.files.map(({ resolution }) => resolution))
    const fits = done?.plan === outlineOf(plan) && renditions.every(({ resolution }) => made.has(resolution))
    if (fits) return { marker, files: done.files.map((file) => ({ ...file, hls: file.hls })) }
  }
  return undefined
}

async function readJson<T>(path: string, schema: z.ZodType<T>): Promise<T | undefined> {
  const text = await readFile(path, 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  try {
    return schema.parse(JSON.parse(text))
  } catch {
    return undefined
  }
}
