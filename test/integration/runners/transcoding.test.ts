// Transcoding by remote runners: the same renditions as locally, with any number of runners and failures.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { io } from 'socket.io-client'
import { eventually } from '../../../scripts/demo/client.ts'
import { run } from '../../support/postgres.ts'
import { type FileView, type RunnerHarness, startHarness, type VideoView } from './harness.ts'

const PUBLISHED = 1
const FAILED = 7

let world: RunnerHarness

beforeAll(async () => {
  world = await startHarness({
    transcoding: { web_videos: { enabled: true }, hls: { enabled: true } },
    // Cached responses do not expire during the test.
    vireo: { caching: { routes: { videos: '1 hour' } } },
  })
})
afterAll(() => world?.stop())

const shown = (files: FileView[]) => files.map(({ resolution, hasAudio, hasVideo }) => [resolution.id, hasVideo, hasAudio])
const renditions = ({ files, streamingPlaylists }: VideoView) => [shown(files), ...streamingPlaylists.map((one) => shown(one.files))]
const until = (uuid: string, state: number) =>
  eventually(`state ${state}`, 600_000, async () => {
    const video = await world.video(uuid)
    return video.state.id === state ? video : undefined
  })
const offered = (runnerToken: string) => eventually('an offer', 600_000, async () => (await world.protocol.request(runnerToken, ALL))[0])
const ALL = ['vod-web-video-transcoding', 'vod-hls-transcoding', 'vod-audio-merge-transcoding']

it('notifies connected runners of jobs, and refuses strangers', async () => {
  const runnerToken = await world.register('connected')
  const stranger = io(`${world.node.base}/runners`, { forceNew: true, auth: { runnerToken: 'ptrt-other' } })
  const refusal = await new Promise<Error>((resolve) => stranger.once('connect_error', resolve))
  stranger.disconnect()
  expect(refusal.message).toBe('Unknown runner token')
  const socket = io(`${world.node.base}/runners`, { forceNew: true, auth: { runnerToken } })
  await new Promise<void>((resolve) => socket.once('connect', resolve))
  const told = new Promise<void>((resolve) => socket.once('available-jobs', resolve))
  const uuid = await world.upload('small.mp4')
  await told
  const ended = new Promise<void>((resolve) => socket.once('disconnect', () => resolve()))
  await world.ask('unregister', { runnerToken })
  await world.admin.send('DELETE', `/api/v1/videos/${uuid}`)
  await world.upload('small.mp4').then((other) => world.admin.send('DELETE', `/api/v1/videos/${other}`))
  await ended
  socket.disconnect()
})

it('publishes an upload with the renditions of a local transcoding, made by two runners', async () => {
  const runners = [await world.register('first'), await world.register('second')]
  const uuid = await world.upload('journey.mp4')
  const listed = async () => {
    const list = (await (await fetch(`${world.node.base}/api/v1/videos`)).json()) as { data: { uuid: string }[] }
    return list.data.some((video) => video.uuid === uuid)
  }
  expect(await listed()).toBe(false)
  const ends = await Promise.all(runners.map((token) => world.work(token)))
  const remote = await until(uuid, PUBLISHED)
  expect(await listed()).toBe(true)
  await eventually('the renditions, for visitors', 600_000, async () => {
    const shownToVisitors: VideoView = await (await fetch(`${world.node.base}/api/v1/videos/${uuid}`)).json()
    return JSON.stringify(renditions(shownToVisitors)) === JSON.stringify(renditions(await world.video(uuid)))
  })
  await Promise.all(ends.map((end) => end()))
  const jobs = (await world.jobs()).slice(-4)
  expect(jobs.map(({ type, payload, state }) => [type, payload.output.resolution, state.label])).toEqual([
    ['vod-web-video-transcoding', 360, 'Completed'],
    ['vod-hls-transcoding', 360, 'Completed'],
    ['vod-hls-transcoding', 240, 'Completed'],
    ['vod-web-video-transcoding', 240, 'Completed'],
  ])
  const { data } = await world.admin.get<{ data: { type: string; state: string }[] }>('/api/v1/jobs?jobType=video-transcoding')
  expect(data.slice(0, 5).map(({ state }) => state)).toEqual(Array(5).fill('completed'))

  await world.admin.send('PUT', '/api/v1/config/custom', { transcoding: { remoteRunners: { enabled: false } } })
  const local = await until(await world.upload('journey.mp4'), PUBLISHED)
  await world.admin.send('DELETE', '/api/v1/config/custom')
  expect(renditions(remote)).toEqual(renditions(local))
  const master = await (await fetch(remote.streamingPlaylists[0]?.playlistUrl ?? '')).text()
  expect(master.match(/RESOLUTION=\d+x\d+/g)).toEqual(['RESOLUTION=640x360', 'RESOLUTION=426x240'])
})

it('makes the still video for an audio file', async () => {
  const end = await world.work(await world.register('for sound'))
  const video = await until(await world.upload('sound.mp3'), PUBLISHED)
  await end()
  expect(renditions(video)).toEqual([
    [
      [480, true, true],
      [240, true, true],
    ],
    [
      [480, true, true],
      [240, true, true],
    ],
  ])
})

/** Requests of a runner with the token of its job. */
const reportsOf = (video: string): [string, object][] => [
  ['update', { progress: 5 }],
  ['abort', { reason: 'a reason' }],
  ['error', { message: 'a message' }],
  ['success', { payload: {} }],
  ...['max-quality', 'max-quality/audio', 'previews/max-quality', 'studio/task-files/a'].map((file): [string, object] => [
    `files/videos/${video}/${file}`,
    {},
  ]),
]

it('offers the job of a silent or removed runner to another, and none to strangers', async () => {
  const [mine, foreign] = [await world.register('mine'), await world.register('theirs')]
  const uuid = await world.upload('small.mp4')
  const { uuid: job } = await offered(mine)
  const { jobToken } = await world.protocol.accept(mine, job)
  expect(await world.protocol.request(foreign, ALL)).toEqual([])
  expect((await world.ask(`jobs/${job}/accept`, { runnerToken: foreign })).status).toBe(400)

  const input = `jobs/${job}/files/videos/${uuid}/max-quality`
  expect((await world.ask(input, { runnerToken: foreign, jobToken })).status).toBe(404)
  expect((await world.ask(input, { runnerToken: mine, jobToken: 'ptrjt-other' })).status).toBe(404)
  const other = await world.video(uuid)
  expect((await world.ask(`jobs/${job}/files/videos/${other.id + 1}/max-quality`, { runnerToken: mine, jobToken })).status).toBe(403)
  for (const [path, body] of reportsOf(uuid)) {
    expect([path, (await world.ask(`jobs/${job}/${path}`, { runnerToken: foreign, jobToken, ...body })).status]).toEqual([path, 404])
  }

  await run(world.node.databaseUrl, `update job set due_at = now() where uuid = '${job}'`)
  await offered(foreign)
  expect((await world.ask(`jobs/${job}/update`, { runnerToken: mine, jobToken, progress: 5 })).status).toBe(404)

  const again = await world.protocol.accept(foreign, job)
  await world.ask('unregister', { runnerToken: foreign })
  expect((await offered(mine)).uuid).toBe(job)
  for (const [path, body] of reportsOf(uuid)) {
    const answer = await world.ask(`jobs/${job}/${path}`, { runnerToken: foreign, jobToken: again.jobToken, ...body })
    expect([path, answer.status, answer.body.code]).toEqual([path, 404, 'unknown_runner_token'])
  }
  const end = await world.work(mine)
  await until(uuid, PUBLISHED)
  await end()
})

it('fails a video whose job fails too often, with its other jobs', async () => {
  const runner = await world.register('unlucky')
  const uuid = await world.upload('small.mp4')
  for (let failure = 1; failure <= 5; failure += 1) {
    const { uuid: job } = await offered(runner)
    const { jobToken } = await world.protocol.accept(runner, job)
    expect((await world.ask(`jobs/${job}/error`, { runnerToken: runner, jobToken, message: 'no encoder' })).status).toBe(204)
  }
  await until(uuid, FAILED)
  const jobs = (await world.jobs()).slice(-2)
  expect(jobs.map(({ state, failures, error }) => [state.label, failures, error])).toEqual([
    ['Errored', 5, 'no encoder'],
    ['Parent job failed', 0, null],
  ])
})

it('ends the jobs of a cancelled transcoding and of a removed video', async () => {
  const runner = await world.register('patient')
  const uuid = await world.upload('small.mp4')
  const { uuid: job } = await offered(runner)
  await world.admin.send('POST', `/api/v1/runners/jobs/${job}/cancel`)
  await until(uuid, FAILED)
  expect((await world.jobs()).slice(-2).map(({ state }) => state.label)).toEqual(['Cancelled', 'Parent job cancelled'])
  const second = await world.upload('small.mp4')
  await offered(runner)
  await world.admin.send('DELETE', `/api/v1/videos/${second}`)
  await eventually('the end of the offer', 600_000, async () => (await world.protocol.request(runner, ALL)).length === 0)
  await world.admin.send('DELETE', `/api/v1/runners/jobs/${job}`)
  expect((await world.jobs()).some(({ uuid }) => uuid === job)).toBe(false)
})

describe('with a timeout after which the server does the work itself', () => {
  it('makes the renditions without runners, and instead of silent ones', async () => {
    const alone = await startHarness({ vireo: { runners: { local_after: '1 minute' } } })
    const published = (uuid: string) =>
      eventually('the publication', 600_000, async () => {
        const video = await alone.video(uuid)
        return video.state.id === PUBLISHED && video
      })
    try {
      const expected = renditions(await published(await alone.upload('small.mp4')))
      expect(await alone.jobs()).toEqual([])

      const runner = await alone.register('a runner')
      const uuid = await alone.upload('small.mp4')
      const { uuid: job } = await eventually('an offer', 600_000, async () => (await alone.protocol.request(runner, ALL))[0])
      const { jobToken } = await alone.protocol.accept(runner, job)
      await run(alone.node.databaseUrl, "update transcoding set due_at = now() where state = 'running'")
      await eventually('the renewal', 600_000, async () => {
        const [row] = await run<{ isRenewed: boolean }>(
          alone.node.databaseUrl,
          `select due_at > now() as "isRenewed" from transcoding where state = 'running'`,
        )
        return row?.isRenewed
      })
      expect((await alone.video(uuid)).state.id).not.toBe(PUBLISHED)

      await run(
        alone.node.databaseUrl,
        `update runner set last_contact = now() - interval '61 seconds';
         update transcoding set due_at = now() where state = 'running'`,
      )
      expect(renditions(await published(uuid))).toEqual(expected)
      expect((await alone.jobs()).every(({ state }) => /cancelled/i.test(state.label))).toBe(true)
      expect((await alone.ask(`jobs/${job}/update`, { runnerToken: runner, jobToken, progress: 5 })).status).toBe(400)
    } finally {
      await alone.stop()
    }
  })
})
