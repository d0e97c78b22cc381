// The table of media inputs: each is converted to exactly the expected streams, verified by ffprobe and a full decode, or refused.

import { execFile } from 'node:child_process'
import { readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { parseMediaPlaylist } from '../../../src/media/ffmpeg/playlists.ts'
import { isRefusal, type LadderFile, type LadderSettings, planLadder, probe, runLadder } from '../../../src/media/index.ts'
import { newUuid } from '../../../src/platform/ids.ts'
import { serverFfmpeg, temporaryFolder, testFfmpeg } from '../../support/media.ts'
import { type Input, inputs, type Rendition } from '../../support/media-inputs.ts'

const run = promisify(execFile)
const ffmpeg = await testFfmpeg()
/** Inspects the results: this ffmpeg starts thirty times faster. */
const looking = await serverFfmpeg()

/** Only the source's own resolution: smaller ones are scaled from it. */
const settings: LadderSettings = {
  always_transcode_original_resolution: true,
  resolutions: {},
  fps: { max: 60 },
  hls: { enabled: true, split_audio_and_video: false },
  web_videos: { enabled: false },
}

let root: string
beforeAll(async () => {
  root = await temporaryFolder()
})
afterAll(() => rm(root, { recursive: true, force: true }))

interface Streams {
  streams: Record<string, unknown>[]
  format: { duration?: string }
}

async function look(path: string): Promise<Streams> {
  const { stdout } = await run(looking.ffprobePath, ['-v', 'error', '-show_streams', '-show_format', '-of', 'json', path])
  return JSON.parse(stdout)
}

/** Runs the ladder of an input; `inspect` sees its files before they are removed. */
async function ladder(input: Input, inspect: (files: LadderFile[]) => Promise<void>) {
  const path = await input.path()
  const found = await probe({ ffmpeg, path })
  const plan = planLadder({ probe: found, settings })
  const workFolder = join(root, 'work')
  const steps: string[] = []
  await runLadder({
    ffmpeg,
    plan,
    input: path,
    workFolder,
    newUuid,
    threads: 1,
    limits: { stallMs: 20_000 },
    onStart: ({ step }) => steps.push(step),
    onFiles: inspect,
  })
  await expect(stat(workFolder)).rejects.toMatchObject({ code: 'ENOENT' })
  return { found, plan, steps }
}

function expectPicture(video: Record<string, unknown> | undefined, { size, fps }: Rendition, isOneFrame: boolean): void {
  const [width, height] = size.split('x').map(Number)
  expect(video).toMatchObject({ codec_name: 'h264', pix_fmt: 'yuv420p', width, height })
  // Players need not rotate or stretch, and no wrong colours are declared.
  expect(video?.side_data_list).toBeUndefined()
  expect(video?.tags).not.toHaveProperty('rotate')
  expect(['1:1', undefined]).toContain(video?.sample_aspect_ratio)
  expect(['bt709', 'unknown', undefined]).toContain(video?.color_transfer)
  expect(['bt709', 'unknown', undefined]).toContain(video?.color_primaries)
  expect(['bt709', 'bt470bg', 'unknown', undefined]).toContain(video?.color_space)
  const [num = 0, den = 1] = String(video?.avg_frame_rate).split('/').map(Number)
  if (!isOneFrame) expect(num / den).toBeCloseTo(fps, 2)
}

async function expectRendition(file: LadderFile | undefined, expected: Rendition): Promise<void> {
  if (!file?.hls) throw new Error('There is no HLS.')
  const { entry, playlistPath } = file.hls
  const { streams, format } = await look(file.path)
  expect(streams.map(({ codec_type }) => codec_type)).toEqual(expected.sound ? ['video', 'audio'] : ['video'])
  expectPicture(streams[0], expected, expected.duration * expected.fps < 1.5)
  const { channels, rate } = expected.sound ?? {}
  if (channels) {
    expect(streams[1]).toMatchObject({ codec_name: 'aac', profile: 'LC', channels, sample_rate: `${rate}` })
  }
  const tolerance = Math.max(0.15, 1.1 / expected.fps)
  expect(Math.abs(Number(format.duration) - expected.duration)).toBeLessThan(tolerance)
  for (const { start_time: start } of streams) expect(Math.abs(Number(start))).toBeLessThan(0.15)

  // The playlist agrees, and the whole file decodes.
  const playlist = parseMediaPlaylist(await readFile(playlistPath, 'utf8'))
  const seconds = playlist.segments.reduce((sum, { duration }) => sum + duration, 0)
  expect(Math.abs(seconds - expected.duration)).toBeLessThan(tolerance)
  const codecs = [expect.stringMatching(/^avc1\.(42c0|4d40|6400)[0-9a-f]{2}$/), ...(expected.sound ? ['mp4a.40.2'] : [])]
  expect(entry).toMatchObject({ hasVideo: true, hasAudio: expected.sound !== undefined, codecs })
  const decode = ['-v', 'error', '-allowed_extensions', 'ALL', '-i', playlistPath, '-t', '5', '-f', 'null', '-']
  expect((await run(looking.ffmpegPath, decode)).stderr).toBe('')

  const [width, height] = expected.size.split('x').map(Number)
  expect(file).toMatchObject({ width, height, fps: Math.round(expected.fps), hasVideo: true })
  expect(file.hasAudio).toBe(expected.sound !== undefined)
}

const accepted = inputs.flatMap(({ expected, ...input }) => ('refused' in expected ? [] : [{ ...input, expected }]))
const refused = inputs.flatMap(({ expected, ...input }) => ('refused' in expected ? [{ ...input, reason: expected.refused }] : []))

describe('the table of inputs', () => {
  it('is not empty by accident', () => {
    expect(new Set(inputs.map(({ name }) => name)).size).toBe(inputs.length)
    expect(accepted.length).toBeGreaterThan(60)
    expect(refused.length).toBeGreaterThan(12)
  })

  it.each(accepted)('$name becomes playable in every browser', async (input) => {
    const { expected } = input
    const { found, plan, steps } = await ladder(input, async (files) => {
      expect(files).toHaveLength(1)
      await expectRendition(files[0], expected)
    })
    expect(steps).toEqual([expected.copied ? 'copy' : 'encode'])
    expect(plan.copied !== undefined).toBe(expected.copied === true)
    if (found.video) expect(Math.abs(found.duration - (expected.stated ?? expected.duration))).toBeLessThan(0.6)
  })

  it.each(refused)('$name is refused: $reason', async (input) => {
    const work = async () => {
      const found = await probe({ ffmpeg, path: await input.path() })
      planLadder({ probe: found, settings })
    }
    const error: unknown = await work().catch((reason: unknown) => reason)
    expect(isRefusal(error) ? error.reason : error).toBe(input.reason)
  })
})
