// Two remote runners, one of which is killed during its job: the video is published with all renditions, edited, or keeps playing.

import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { eventually as awaited, type Client, login } from '../../scripts/demo/client.ts'
import { numbersIn, publish } from '../support/live.ts'
import { serverFfmpeg } from '../support/media.ts'
import { freePort } from '../support/ports.ts'
import { ask, type Child, dataFolder, PASSWORD, start, USERNAME } from './support/child.ts'
import { createLive } from './support/lives.ts'
import { channelOf, ladderOf, makeVideo } from './support/videos.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const folder = dataFolder({ prepared: true })
let node: Child
let client: Client
let rtmp: number
const runners: ChildProcess[] = []

beforeAll(async () => {
  rtmp = await freePort()
  const env = {
    VIREO__TRANSCODING: JSON.stringify({ remote_runners: { enabled: true }, resolutions: { '240p': true, '144p': true } }),
    VIREO__VIDEO_STUDIO: JSON.stringify({ enabled: true, remote_runners: { enabled: true } }),
    VIREO__REMOTE_RUNNERS: JSON.stringify({ stalled_jobs: { vod: '15 seconds', live: '15 seconds' } }),
    VIREO__LIVE: JSON.stringify({
      enabled: true,
      rtmp: { port: rtmp },
      transcoding: { remote_runners: { enabled: true }, resolutions: { '144p': true } },
    }),
    VIREO__VIREO__LIVE: JSON.stringify({ segment_duration: '1 second', segments_in_playlist: 200, reconnect_window: 0 }),
  }
  node = await start({ dataDir: folder.path, port: await freePort(), env })
  client = await login(node.base, USERNAME, PASSWORD)
})

afterAll(async () => {
  for (const { pid } of runners) if (pid !== undefined) endGroup(pid)
  await node?.kill9({ database: true })
  await folder.remove()
})

function endGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It has exited.
  }
}

interface Job {
  type: string
  state: { id: number }
  runner: { name: string } | null
}
const jobs = async () => (await client.get<{ data: Job[] }>('/api/v1/runners/jobs')).data

async function startRunner(name: string): Promise<ChildProcess> {
  await client.send('POST', '/api/v1/runners/registration-tokens/generate')
  const { data } = await client.get<{ data: { registrationToken: string }[] }>('/api/v1/runners/registration-tokens')
  const { ffmpegPath, ffprobePath } = await serverFfmpeg()
  const args = ['runner', '--server', node.base, '--name', name, '--folder', join(folder.path, name)]
  const child = spawn(process.execPath, [join(ROOT, 'src/main.js'), ...args], {
    cwd: ROOT,
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      PATH: process.env.PATH ?? '',
      VIREO_DATA_DIR: join(folder.path, `${name}-data`),
      VIREO_RUNNER_TOKEN: data[0]?.registrationToken ?? '',
      VIREO__VIREO__MEDIA__FFMPEG_PATH: ffmpegPath,
      VIREO__VIREO__MEDIA__FFPROBE_PATH: ffprobePath,
    },
  })
  runners.push(child)
  const lines = createInterface({ input: child.stdout })
  for await (const line of lines) if (line.includes(`The runner "${name}" works`)) break
  child.stdout.resume()
  return child
}

/** Starts two runners, and kills the one that accepts a job of this kind, during it; returns the name of the other. */
async function killOneOf(
  names: [string, string],
  kind: RegExp,
  start: () => Promise<void>,
  middle: () => Promise<unknown> = async () => {},
): Promise<string | undefined> {
  for (const { pid } of runners.splice(0)) endGroup(pid ?? 0)
  const started = [await startRunner(names[0]), await startRunner(names[1])]
  await start()
  const taken = await awaited('an accepted job', 600_000, async () =>
    (await jobs()).find((job) => job.state.id === 2 && kind.test(job.type)),
  )
  await middle()
  endGroup(started[names.indexOf(taken.runner?.name ?? '')]?.pid ?? 0)
  return names.find((name) => name !== taken.runner?.name)
}

let uuid: string

it('publishes a video although one of two runners is killed', async () => {
  const other = await killOneOf(['first', 'second'], /^vod-/, async () => {
    uuid = await upload()
  })
  expect(await awaited('the publication', 150_000, () => ladderOf(client, uuid))).toEqual([360, 240, 144])
  expect((await jobs()).map(({ state, runner }) => [state.id, runner?.name])).toEqual(Array(3).fill([3, other]))
})

it('edits a video although one of two runners is killed', async () => {
  const other = await killOneOf(['third', 'fourth'], /^video-studio-/, async () => {
    const tasks = [{ name: 'cut', options: { end: 20 } }]
    await client.send('POST', `/api/v1/videos/${uuid}/studio/edit`, { tasks })
  })
  await awaited('the edition', 150_000, async () => (await client.get<{ duration: number }>(`/api/v1/videos/${uuid}`)).duration === 20)
  await awaited('the new renditions', 150_000, async () => (await ladderOf(client, uuid))?.length === 3)
  const made = (await jobs()).find(({ type }) => type.startsWith('video-studio-'))
  expect([made?.state.id, made?.runner?.name]).toEqual([3, other])
})

it('keeps playing a live although one of two runners is killed, and records everything received', async () => {
  const live = await createLive(client, rtmp, 'Live')
  const playlist = async (rendition: number) =>
    await (await fetch(`${node.base}/static/streaming-playlists/hls/${live.uuid}/${rendition}.m3u8`)).text()
  const pieces = (text: string): number => text.split('\n').filter((line) => line.endsWith('.ts')).length
  const stop = new AbortController()
  let sending: ReturnType<typeof publish> | undefined
  const other = await killOneOf(
    ['fifth', 'sixth'],
    /^live-/,
    async () => {
      sending = publish(live.url, { seconds: 600, paced: true, numberedFrom: 0, signal: stop.signal })
    },
    () => awaited('pieces of the first runner', 180_000, async () => pieces(await playlist(2)) >= 3),
  )
  const runs = await awaited('pieces of the other runner', 180_000, async () => {
    const texts = await Promise.all([1, 2].map(playlist))
    const runs = texts.map((text) => text.split('#EXT-X-DISCONTINUITY\n').map(pieces))
    return runs.every(([, ...later]) => later.some((count) => count >= 3)) && runs
  })
  for (const run of runs) expect(run).toEqual([expect.any(Number), expect.any(Number)])
  stop.abort()
  await sending
  const job = await awaited('the end of the job', 180_000, async () =>
    (await jobs()).find(({ type, state }) => type.startsWith('live-') && state.id === 3),
  )
  expect(job.runner?.name).toBe(other)

  const [received] = await ask<{ seconds: number }>(
    folder.path,
    'select sum(p.seconds) as seconds from live_piece p join live_session s on s.id = p.session_id where s.video_id = $1',
    [live.id],
  )
  const file = await awaited('the recording', 180_000, async () => {
    const { isLive, state, streamingPlaylists } = await client.get<Recording>(`/api/v1/videos/${live.uuid}`)
    return !isLive && state.id === 1 && streamingPlaylists[0]?.files[0]?.fileUrl
  })
  const numbers = Array.from({ length: Math.round((received?.seconds ?? 0) * 25) }, (_, number) => number)
  expect(await numbersIn(file)).toEqual(numbers)
}, 600_000)

it('leaves neither a running ffmpeg nor files when it is killed', async () => {
  for (const { pid } of runners.splice(0)) endGroup(pid ?? 0)
  const work = join(folder.path, 'seventh')
  const jobFolders = async () => (await readdir(work)).filter((name) => name.startsWith('job-'))
  const killed = await startRunner('seventh')
  await upload()
  const pid = await awaited('its ffmpeg', 600_000, () => ffmpegIn(work))
  const [left] = await jobFolders()
  killed.kill('SIGKILL')
  await awaited('the end of its ffmpeg', 60_000, async () => !existsSync(`/proc/${pid}`))
  expect(await jobFolders()).toEqual([left])
  await startRunner('seventh')
  await awaited('the removal of its files', 60_000, async () => !(await jobFolders()).includes(left ?? ''))
}, 600_000)

/** The process that writes into the folder. */
async function ffmpegIn(folder: string): Promise<number | undefined> {
  for (const pid of (await readdir('/proc')).map(Number).filter(Number.isInteger)) {
    const [program = '', ...args] = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0')
    if (program.endsWith('ffmpeg') && args.some((arg) => arg.startsWith(`${folder}/job-`))) return pid
  }
  return undefined
}

interface Recording {
  isLive: boolean
  state: { id: number }
  streamingPlaylists: { files: { fileUrl: string }[] }[]
}

async function upload(): Promise<string> {
  const form = new FormData()
  const fields = { name: 'Killed', channelId: String(await channelOf(client)), privacy: '1', waitTranscoding: 'true' }
  for (const [name, value] of Object.entries(fields)) form.set(name, value)
  form.set('videofile', new Blob([new Uint8Array(await makeVideo(30))]), 'video.mp4')
  return (await client.send<{ video: { uuid: string } }>('POST', '/api/v1/videos/upload', form)).video.uuid
}
