// Jobs of remote runners in the list of all jobs: administrators may cancel them there, and see no buttons that do not apply.

import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { until } from '../../support/until.ts'
import { type RunnerHarness, startHarness } from './harness.ts'

let world: RunnerHarness

beforeAll(async () => {
  world = await startHarness({ transcoding: { web_videos: { enabled: true }, hls: { enabled: true } } })
})
afterAll(() => world?.stop())

interface Listed {
  id: string
  state: string
  isRemote?: boolean
}

const listed = async () =>
  (await world.admin.get<{ data: Listed[] }>('/api/v1/jobs?sort=createdAt&count=100')).data.filter(({ isRemote }) => isRemote)
const ask = async ({ id }: Listed, verb: 'retry' | 'cancel') =>
  (await world.admin.raw(`/api/v1/vireo/jobs/${id}/${verb}`, { method: 'POST' })).status

it('are cancelled with their dependents, and cannot be retried', async () => {
  const uuid = await world.upload('small.mp4')
  const jobs = await until(
    async () => {
      const all = await listed()
      return all.length > 1 ? all : undefined
    },
    { what: 'the offers' },
  )
  // Local jobs lack this field, and their ids come from the same table.
  const [first, second] = jobs
  if (!first || !second) throw new Error('There are no jobs.')
  expect([first.state, second.state]).toEqual(['prioritized', 'waiting-children'])
  for (const job of [first, second]) expect(await ask(job, 'retry')).toBe(409)
  expect(await ask(first, 'cancel')).toBe(204)
  expect((await world.jobs()).map(({ state }) => state.label)).toEqual(['Cancelled', ...jobs.slice(1).map(() => 'Parent job cancelled')])
  for (const verb of ['retry', 'cancel'] as const) expect([await ask(first, verb), await ask(second, verb)]).toEqual([409, 409])
  await until(async () => (await world.video(uuid)).state.id === 7, { what: 'the failure of the video' })
})

it('are taken from their runner', async () => {
  const runnerToken = await world.register('a runner')
  await world.upload('small.mp4')
  const offer = await until(async () => (await world.protocol.request(runnerToken, ['vod-web-video-transcoding']))[0], { what: 'an offer' })
  const job = await world.protocol.accept(runnerToken, offer.uuid)
  const active = (await listed()).find(({ state }) => state === 'active')
  expect(active && [await ask(active, 'retry'), await ask(active, 'cancel')]).toEqual([409, 204])
  const tokens = { runnerToken, jobToken: job.jobToken }
  expect(await world.ask(`jobs/${job.uuid}/update`, { ...tokens, progress: 5 })).toMatchObject({
    status: 400,
    body: { code: 'runner_job_not_in_processing_state' },
  })
})
