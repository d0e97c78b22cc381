// The bars of the ladder, on five sources: one process that decodes once and scales in a cascade, against one process per rendition, each
// decoding and scaling by itself, with the same encoder options; and the time to the first playable rendition. The sources are generated:
// moving test pictures, a slow zoom into a fractal for fine detail, and a little film grain. Two of them can be copied (H.264 with key
// frames every 2 s, AAC), three cannot. HLS only. Preset, rate control and scaler are the same on both sides; each uses its best thread
// counts: x264's default if an encoder has the machine to itself, the server's if several share it.

import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { copyCommand, encodeCommand } from '../src/media/ffmpeg/command.ts'
import { stepsOf } from '../src/media/ffmpeg/plan.ts'
import type { FfmpegCommandSpec } from '../src/media/ffmpeg/run.ts'
import { runFfmpeg } from '../src/media/ffmpeg/run.ts'
import { type Ffmpeg, findFfmpeg, type LadderPlan, planLadder, probe, type RenditionPlan } from '../src/media/index.ts'

const run = promisify(execFile)

/** Seconds of wall clock, and of CPU time over all cores. */
export interface LadderTiming {
  wall: number
  cpu: number
}

export interface SourceBench {
  name: string
  isCopied: boolean
  /** One process per rendition, all of them encoded. */
  apart: LadderTiming
  /** Like the server: an early rendition, then one process for the others. */
  together: LadderTiming
  /** Time to the first rendition. */
  first: LadderTiming
  /** One process for all, which encodes the top rendition too. */
  inOne: LadderTiming
}

/** Maximum of each wall-clock ratio. */
export const LADDER_BARS = { encoded: 0.75, copied: 0.45, firstEncoded: 0.5, firstCopied: 0.15 }

const ROUNDS = 2

export interface LadderBenchOptions {
  ffmpeg?: Ffmpeg
  /** Sources whose names contain this text. */
  only?: string | undefined
  /** Share of the sources' length: less for a quick run. */
  share?: number
  /**
   * All commands in turn, several times, alternately forwards and backwards: a command after a smaller one is slowed by memory allocation.
   * The fastest run of each counts, since other load only adds time.
   */
  rounds?: number
  log?: (line: string) => void
}

/** Measures both ways in turn on this machine. Takes some minutes. */
export async function benchLadder(options: LadderBenchOptions = {}): Promise<SourceBench[]> {
  const ffmpeg = options.ffmpeg ?? (await findFfmpeg())
  const results: SourceBench[] = []
  const share = options.share ?? 1
  for (const whole of SOURCES.filter(({ name }) => name.includes(options.only ?? ''))) {
    const source = { ...whole, seconds: whole.seconds * share }
    const folder = await mkdtemp(join(tmpdir(), 'vireo-bench-ladder-'))
    try {
      results.push(await benchSource(ffmpeg, source, { folder, rounds: options.rounds ?? ROUNDS, log: options.log }))
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }
  return results
}

interface Source {
  name: string
  /** px, frames per second, seconds. */
  size: string
  rate: number
  seconds: number
  /** Between the test picture and the encoder. */
  filter?: string
  video: string[]
  sound: boolean
  extension: string
}

const BT2020 = ['-color_primaries', 'bt2020', '-colorspace', 'bt2020nc', '-color_trc', 'arib-std-b67']
const X265 = ['-c:v', 'libx265', '-preset', 'ultrafast', '-x265-params', 'log-level=none']
const SOURCES: Source[] = [
  {
    name: '1080p30 H.264',
    size: '1920x1080',
    rate: 30,
    seconds: 20,
    sound: true,
    extension: 'mp4',
    video: ['-c:v', 'libx264', '-preset', 'veryfast', '-b:v', '6M', '-maxrate', '8M', '-bufsize', '12M', '-g', '60'],
  },
  {
    name: '720p60 H.264',
    size: '1280x720',
    rate: 60,
    seconds: 20,
    sound: true,
    extension: 'mp4',
    video: ['-c:v', 'libx264', '-preset', 'veryfast', '-b:v', '6M', '-maxrate', '8M', '-bufsize', '12M', '-g', '120'],
  },
  {
    name: '2160p30 HEVC',
    size: '3840x2160',
    rate: 30,
    seconds: 6,
    sound: true,
    extension: 'mp4',
    video: [...X265, '-b:v', '20M', '-pix_fmt', 'yuv420p'],
  },
  {
    name: 'portrait 10-bit HLG',
    size: '1080x1920',
    rate: 30,
    seconds: 20,
    sound: true,
    extension: 'mp4',
    video: [...X265, '-b:v', '10M', '-pix_fmt', 'yuv420p10le', ...BT2020],
  },
  {
    name: 'screen, variable rate',
    size: '1600x900',
    rate: 30,
    seconds: 20,
    sound: false,
    extension: 'mkv',
    filter: "select='lt(mod(n,90),60)+not(mod(n,7))'",
    video: ['-vsync', 'vfr', '-c:v', 'libx264', '-preset', 'veryfast', '-crf', '20', '-pix_fmt', 'yuv444p'],
  },
]

interface BenchSourceOptions {
  folder: string
  rounds: number
  log: LadderBenchOptions['log']
}

async function benchSource(ffmpeg: Ffmpeg, source: Source, { folder, rounds, log }: BenchSourceOptions): Promise<SourceBench> {
  const input = join(folder, `source.${source.extension}`)
  await makeSource(ffmpeg, source, input)
  // The plan for a video of some minutes: it must not depend on the length of the bench.
  const found = { ...(await probe({ ffmpeg, path: input })), duration: 180 }
  const asServed = planLadder({ probe: found, settings: SETTINGS, early: true })
  const encoded = planLadder({
    // The same ladder without the copy.
    probe: { ...found, isCut: true },
    settings: SETTINGS,
  })

  const specOf = (plan: LadderPlan, renditions: RenditionPlan[], name: string, threads: number) => {
    const command = {
      plan,
      renditions,
      input,
      threads,
      canToneMap: ffmpeg.canToneMap,
      asFiltered: ffmpeg.asFiltered,
      filesOf: ({ resolution }: RenditionPlan) => ({
        playlist: join(folder, name, `${resolution}.m3u8`),
        fragmented: join(folder, name, `${resolution}.mp4`),
        webVideo: join(folder, name, `${resolution}-web.mp4`),
      }),
    }
    return renditions.some(({ video }) => video && !video.encode) ? copyCommand(command) : encodeCommand(command)
  }
  const cores = availableParallelism()
  const steps = stepsOf(asServed)
  const jobs = new Map<string, FfmpegCommandSpec>([
    ...steps.map(({ step, renditions }) => [step, specOf(asServed, renditions, step, cores)] as const),
    [IN_ONE, specOf(encoded, encoded.encoded, IN_ONE, cores)],
    ...encoded.encoded.map((one) => [apartName(one), specOf(encoded, [one], apartName(one), 0)] as const),
  ])
  for (const name of jobs.keys()) await mkdir(join(folder, name))

  const quickest = new Map<string, LadderTiming>()
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, spec] of round % 2 === 0 ? jobs : [...jobs].toReversed()) {
      const timing = await timed(ffmpeg, spec)
      const { wall, cpu } = timing
      log?.(`${source.name.padEnd(24)} ${name.padEnd(14)} ${wall.toFixed(1)} s wall, ${cpu.toFixed(1)} s processor`)
      const before = quickest.get(name)
      if (!before || wall < before.wall) quickest.set(name, timing)
    }
  }
  const of = (names: string[]): LadderTiming => sum(names.map((name) => quickest.get(name) ?? { wall: 0, cpu: 0 }))
  return {
    name: source.name,
    isCopied: asServed.copied !== undefined,
    apart: of(encoded.encoded.map(apartName)),
    together: of(steps.map(({ step }) => step)),
    first: of(steps.slice(0, 1).map(({ step }) => step)),
    inOne: of([IN_ONE]),
  }
}

const IN_ONE = 'in one'
const apartName = ({ resolution }: RenditionPlan): string => `apart ${resolution}p`

const SETTINGS = {
  always_transcode_original_resolution: true,
  resolutions: Object.fromEntries(['2160p', '1440p', '1080p', '720p', '480p', '360p', '240p', '144p'].map((name) => [name, true])),
  fps: { max: 60 },
  hls: { enabled: true, split_audio_and_video: false },
  web_videos: { enabled: false },
}

async function makeSource(ffmpeg: Ffmpeg, source: Source, target: string): Promise<void> {
  const { size, rate, seconds, filter, video, sound } = source
  const inputs = [
    '-f',
    'lavfi',
    '-i',
    `testsrc2=size=${size}:rate=${rate}:duration=${seconds}`,
    '-f',
    'lavfi',
    '-i',
    `mandelbrot=size=960x540:rate=${rate}:end_scale=0.003:end_pts=900`,
    ...(sound ? ['-f', 'lavfi', '-i', `sine=frequency=330:sample_rate=48000:duration=${seconds}`] : []),
  ]
  const last = ['noise=alls=4:allf=t', ...(filter === undefined ? [] : [filter]), 'format=yuv420p']
  const blend = 'blend=all_mode=average:shortest=1'
  const graph = `[1:v]scale=${size.replace('x', ':')}[f];[0:v][f]${blend},${last.join(',')}[v]`
  const streams = ['-filter_complex', graph, '-map', '[v]', ...(sound ? ['-map', '2:a', '-c:a', 'aac', '-b:a', '128k'] : [])]
  await run(ffmpeg.ffmpegPath, ['-v', 'error', '-y', ...inputs, ...streams, ...video, '-t', `${seconds}`, target])
}

async function timed(ffmpeg: Ffmpeg, spec: FfmpegCommandSpec): Promise<LadderTiming> {
  let cpu = 0
  let poll: NodeJS.Timeout | undefined
  const start = performance.now()
  try {
    const onStart = ({ pid }: { pid: number }) => {
      poll = setInterval(async () => {
        cpu = Math.max(cpu, await processorSeconds(pid))
      }, 100)
    }
    await runFfmpeg({ ffmpeg, spec, duration: 0, limits: { stallMs: 120_000 }, onStart })
  } finally {
    clearInterval(poll)
  }
  return { wall: (performance.now() - start) / 1000, cpu }
}

/** User and system time of a process, from /proc; 0 on other systems. */
async function processorSeconds(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const TICKS_PER_SECOND = 100
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) / TICKS_PER_SECOND
}

const sum = (timings: LadderTiming[]): LadderTiming => ({
  wall: timings.reduce((total, { wall }) => total + wall, 0),
  cpu: timings.reduce((total, { cpu }) => total + cpu, 0),
})

/** The same ratios of CPU time, which other load affects less. */
export const processorRatios = (results: readonly SourceBench[]): string[] =>
  results.map(({ name, apart, together, first, inOne }) => {
    const [one, served, early] = [inOne.cpu / apart.cpu, together.cpu / apart.cpu, first.cpu / together.cpu]
    return `${name}: in one ${one.toFixed(2)}, as served ${served.toFixed(2)}, first to all ${early.toFixed(2)}`
  })

/** The bars, each with its name, its figure and its maximum. */
export const ladderVerdicts = (results: readonly SourceBench[]): [name: string, ratio: number, limit: number][] =>
  results.flatMap(({ name, isCopied, apart, together, first, inOne }): [string, number, number][] => [
    [`${name}: all encoded by one process, to one process each`, inOne.wall / apart.wall, LADDER_BARS.encoded],
    [
      `${name}: as served${isCopied ? ', top copied' : ''}, to one process each`,
      together.wall / apart.wall,
      isCopied ? LADDER_BARS.copied : LADDER_BARS.encoded,
    ],
    [`${name}: first to all`, first.wall / together.wall, isCopied ? LADDER_BARS.firstCopied : LADDER_BARS.firstEncoded],
  ])

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const log = (line: string): void => {
    process.stdout.write(`${line}\n`)
  }
  const ffmpeg = await findFfmpeg({ ffmpegPath: process.env.FFMPEG_PATH, ffprobePath: process.env.FFPROBE_PATH })
  const rounds = Number(process.env.BENCH_ROUNDS ?? ROUNDS)
  const share = Number(process.env.BENCH_SHARE ?? 1)
  log(`ffmpeg ${ffmpeg.version}`)
  const results = await benchLadder({ log, rounds, ffmpeg, only: process.env.BENCH_ONLY, share })
  for (const [name, ratio, limit] of ladderVerdicts(results)) {
    log(`${ratio <= limit ? 'ok     ' : 'MISSED '} ${name}: ${ratio.toFixed(3)} (at most ${limit})`)
    if (ratio > limit) process.exitCode = 1
  }
  for (const line of processorRatios(results)) log(`of processor time, ${line}`)
}
