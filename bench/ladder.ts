// The ladder's bar: six renditions of a 30 s 1080p source by one process that decodes once and scales in a cascade,
// against one process per rendition in turn, each decoding and scaling by itself, with the same encoder options.
//
// The source is made here: moving test pictures, a slow zoom into a fractal for fine detail, and a little film grain,
// in H.264 at about 6 Mbit/s, which is what the contract calls average for 1080p. It has a key frame every 2 s and AAC
// sound, so that its top rendition can be copied. HLS only. Preset, rate control and scaler are the same on both sides;
// each has the thread counts that suit it best: x264's own choice where an encoder has the machine to itself, the
// server's where six share it.

import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { copyCommand, encodeCommand, type FfmpegCommandSpec } from '../src/media/ffmpeg/command.ts'
import { runFfmpeg } from '../src/media/ffmpeg/run.ts'
import { type Ffmpeg, findFfmpeg, type LadderPlan, planLadder, probe, type RenditionPlan } from '../src/media/index.ts'

const run = promisify(execFile)

/** Seconds of wall clock, and of processor time over all cores. */
export interface LadderTiming {
  wall: number
  cpu: number
}

export interface LadderBench {
  ffmpeg: string
  sourceBitrate: number
  /** One process per rendition: all six encoded; and the five below a top that is copied. */
  apart: { all: LadderTiming; belowCopied: LadderTiming }
  /** One process: all six; and the copy of the top together with the process for the other five. */
  together: { all: LadderTiming; copied: LadderTiming }
  /** Wall clock, together by apart. `copiedByAll` and `copiedByCopied` differ in whether the other side copies too. */
  ratios: { encoded: number; copiedByAll: number; copiedByCopied: number }
}

/** The most that each ratio may be. */
export const LADDER_BARS = { encoded: 0.75, copiedByAll: 0.45 }

export interface LadderBenchOptions {
  ffmpeg?: Ffmpeg
  /** Of the source. */
  seconds?: number
  /** All commands in turn, so often; the quickest run of each counts, since what else the machine does only adds time. */
  rounds?: number
  log?: (line: string) => void
}

/** Measures both ways in turn on this machine. Takes a few minutes. */
export async function benchLadder(options: LadderBenchOptions = {}): Promise<LadderBench> {
  const ffmpeg = options.ffmpeg ?? (await findFfmpeg())
  const { rounds = 1, log = () => undefined } = options
  const folder = await mkdtemp(join(tmpdir(), 'vireo-bench-ladder-'))
  try {
    const input = join(folder, 'source.mp4')
    await makeSource(ffmpeg, input, options.seconds ?? 30)
    const found = await probe({ ffmpeg, path: input })
    const copying = planLadder({ probe: found, settings: SETTINGS })
    if (!copying.copied || !found.video) throw new Error('The source of the bench cannot be copied.')
    const encodedTop = planLadder({
      // A ladder for which the copy is ruled out, and nothing else is different.
      probe: { ...found, video: { ...found.video, pixelFormat: 'yuvj420p' } },
      settings: SETTINGS,
    })

    const cores = availableParallelism()
    const command = (plan: LadderPlan, name: string, threads: number) => ({
      ...{ plan, input, threads, canToneMap: false },
      filesOf: ({ resolution }: RenditionPlan) => ({
        playlist: join(folder, name, `${resolution}.m3u8`),
        fragmented: join(folder, name, `${resolution}.mp4`),
        webVideo: join(folder, name, `${resolution}-web.mp4`),
      }),
    })
    const jobs = new Map([
      [ALL, [encodeCommand(command(encodedTop, ALL, cores))]],
      [COPIED, [copyCommand(command(copying, COPIED, cores)), encodeCommand(command(copying, COPIED, cores))]],
    ])
    for (const rendition of encodedTop.encoded) {
      const name = apartName(rendition)
      jobs.set(name, [encodeCommand(command({ ...encodedTop, encoded: [rendition] }, name, 0))])
    }
    for (const name of jobs.keys()) await mkdir(join(folder, name))

    const quickest = new Map<string, LadderTiming>()
    for (let round = 0; round < rounds; round += 1) {
      for (const [name, specs] of jobs) {
        const timing = await timedAll(ffmpeg, specs)
        log(`${name.padEnd(24)} ${timing.wall.toFixed(1)} s wall, ${timing.cpu.toFixed(1)} s processor`)
        const before = quickest.get(name)
        if (!before || timing.wall < before.wall) quickest.set(name, timing)
      }
    }
    const of = (name: string): LadderTiming => quickest.get(name) ?? { wall: 0, cpu: 0 }
    const together = { all: of(ALL), copied: of(COPIED) }
    const apart = encodedTop.encoded.map((rendition) => of(apartName(rendition)))
    const all = sum(apart)
    const belowCopied = sum(apart.slice(1))
    return {
      ffmpeg: ffmpeg.version,
      sourceBitrate: found.bitrate ?? 0,
      apart: { all, belowCopied },
      together,
      ratios: {
        encoded: together.all.wall / all.wall,
        copiedByAll: together.copied.wall / all.wall,
        copiedByCopied: together.copied.wall / belowCopied.wall,
      },
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const ALL = 'together, top encoded'
const COPIED = 'together, top copied'
const apartName = ({ resolution }: RenditionPlan): string => `apart, ${resolution}p`

const SETTINGS = {
  always_transcode_original_resolution: true,
  resolutions: Object.fromEntries(['1080p', '720p', '480p', '360p', '240p', '144p'].map((name) => [name, true])),
  fps: { max: 60 },
  hls: { enabled: true, split_audio_and_video: false },
  web_videos: { enabled: false },
}

async function makeSource(ffmpeg: Ffmpeg, target: string, seconds: number): Promise<void> {
  const inputs = [
    ...['-f', 'lavfi', '-i', `testsrc2=size=1920x1080:rate=30:duration=${seconds}`],
    ...['-f', 'lavfi', '-i', 'mandelbrot=size=960x540:rate=30:end_scale=0.003:end_pts=900'],
    ...['-f', 'lavfi', '-i', `sine=frequency=330:sample_rate=48000:duration=${seconds}`],
  ]
  const grain = 'noise=alls=4:allf=t'
  const filter = `[1:v]scale=1920:1080[f];[0:v][f]blend=all_mode=average:shortest=1,${grain},format=yuv420p[v]`
  const video = [
    '-map',
    '[v]',
    '-c:v',
    'libx264',
    '-preset',
    'veryfast',
    '-b:v',
    '6M',
    '-maxrate',
    '8M',
    '-bufsize',
    '12M',
  ]
  const rest = ['-g', '60', '-map', '2:a', '-c:a', 'aac', '-b:a', '128k', '-t', `${seconds}`]
  await run(ffmpeg.ffmpegPath, ['-v', 'error', '-y', ...inputs, '-filter_complex', filter, ...video, ...rest, target])
}

async function timedAll(ffmpeg: Ffmpeg, specs: readonly (FfmpegCommandSpec | undefined)[]): Promise<LadderTiming> {
  const timings: LadderTiming[] = []
  for (const spec of specs) {
    if (spec) timings.push(await timed(ffmpeg, spec))
  }
  return sum(timings)
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

/** User and system time of a process, where /proc tells; 0 elsewhere. */
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

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const log = (line: string): void => {
    process.stdout.write(`${line}\n`)
  }
  const { ratios, apart, together, sourceBitrate, ffmpeg } = await benchLadder({
    log,
    rounds: Number(process.env.BENCH_ROUNDS ?? 1),
    seconds: Number(process.env.BENCH_SECONDS ?? 30),
    ffmpeg: await findFfmpeg({ ffmpegPath: process.env.FFMPEG_PATH, ffprobePath: process.env.FFPROBE_PATH }),
  })
  log(`ffmpeg ${ffmpeg}, source ${(sourceBitrate / 1e6).toFixed(1)} Mbit/s`)
  const bar = (name: string, ratio: number, cpu: number, limit?: number): void => {
    const verdict = limit === undefined ? '' : ` (at most ${limit}: ${ratio <= limit ? 'reached' : 'MISSED'})`
    log(`${name.padEnd(44)} ${ratio.toFixed(3)} wall, ${cpu.toFixed(3)} processor${verdict}`)
  }
  bar('top encoded', ratios.encoded, together.all.cpu / apart.all.cpu, LADDER_BARS.encoded)
  bar('top copied, by six encoded', ratios.copiedByAll, together.copied.cpu / apart.all.cpu, LADDER_BARS.copiedByAll)
  bar('top copied, by five encoded', ratios.copiedByCopied, together.copied.cpu / apart.belowCopied.cpu)
  if (ratios.encoded > LADDER_BARS.encoded || ratios.copiedByAll > LADDER_BARS.copiedByAll) process.exitCode = 1
}
