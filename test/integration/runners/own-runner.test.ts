// `vireo runner` with difficulties on its machine: other URLs of the server, its identity, failures.

import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals'
import { runnerTokenFor } from '../../../src/remote-runner/identity.ts'
import { makeProtocol, type Protocol } from '../../../src/remote-runner/protocol.ts'
import { until } from '../../support/until.ts'
import { type RunnerHarness, startHarness } from './harness.ts'

let world: RunnerHarness
let folder: string
let other: string

beforeAll(async () => {
  world = await startHarness({ transcoding: { web_videos: { enabled: true }, hls: { enabled: false } }, storyboards: { enabled: false } })
  const { hostname, port } = new URL(world.node.base)
  other = `http://${hostname === 'localhost' ? '127.0.0.1' : 'localhost'}:${port}`
})
afterAll(() => world?.stop())
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vireo-own-runner-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

it('works with another URL of the server than the public one', async () => {
  const runnerToken = await world.register('elsewhere')
  const uuid = await world.upload('small.mp4')
  const end = await world.work(runnerToken, { protocol: makeProtocol({ server: other, version: '1' }), folder })
  await until(async () => (await world.video(uuid)).state.id === 1, { what: 'the publication' })
  await end()
  expect(await world.jobs()).toMatchObject([{ failures: 0, state: { label: 'Completed' } }])
  expect(await readdir(folder)).toEqual([])
})

it('aborts a job that its machine cannot do, and leaves it to others for a while', async () => {
  const runnerToken = await world.register('without ffmpeg')
  await world.upload('small.mp4')
  const accepted: string[] = []
  const requests: number[] = []
  const protocol = makeProtocol({ server: world.node.base, version: '1' })
  const watched: Protocol = {
    ...protocol,
    async request(token, types) {
      requests.push(accepted.length)
      return await protocol.request(token, types)
    },
    async accept(token, uuid) {
      accepted.push(uuid)
      return await protocol.accept(token, uuid)
    },
  }
  await until(
    async () => (await protocol.request(runnerToken, [])).length === 0 && (await world.jobs()).some(({ state }) => state.id === 1),
  )
  const end = await world.work(runnerToken, { protocol: watched, folder, ffmpegPath: join(folder, 'no-ffmpeg') })
  // Some polls after the failure.
  await until(() => requests.filter((before) => before === 1).length >= 10, { what: 'more requests' })
  await end()
  expect(accepted).toHaveLength(1)
  const job = (await world.jobs()).find(({ uuid }) => uuid === accepted[0])
  expect(job).toMatchObject({ failures: 0, state: { label: 'Pending' } })
})

const identify = (server: string, name: string, registrationToken: string, protocol = makeProtocol({ server, version: '1' })) =>
  runnerTokenFor({ protocol, server, name, folder, token: registrationToken })

it('keeps its identity with another spelling of the URL', async () => {
  const registrationToken = await world.registrationToken()
  const first = await identify(world.node.base, 'spelled', registrationToken)
  expect(await identify(`${world.node.base}/`, 'spelled', registrationToken)).toBe(first)
  expect(await identify(other, 'spelled', registrationToken)).toBe(first)
  // From now on without a registration token.
  expect(await identify(other, 'spelled', 'ptrrt-removed')).toBe(first)
})

it('explains what to do if its name is in use', async () => {
  const registrationToken = await world.registrationToken()
  await world.protocol.register(registrationToken, { name: 'taken', description: 'a machine' })
  const remedy = /Remove it there on the page \/admin\/runners, choose another --name, or give its own token/
  await expect(identify(world.node.base, 'taken', registrationToken)).rejects.toThrow(/registered from another folder or machine/)
  const lost: Protocol = {
    ...world.protocol,
    async register(...requested) {
      await world.protocol.register(...requested)
      throw new TypeError('fetch failed')
    },
  }
  await expect(identify(world.node.base, 'lost', registrationToken, lost)).rejects.toThrow('fetch failed')
  const again = identify(world.node.base, 'lost', registrationToken)
  await expect(again).rejects.toThrow(/the answer to an earlier registration was lost/)
  await expect(again).rejects.toThrow(remedy)
})

it('does not send its token to another machine that claims its name', async () => {
  const registrationToken = await world.registrationToken()
  await identify(world.node.base, 'shy', registrationToken)
  const requested: string[] = []
  const hostile: Server = createServer((request, response) => {
    requested.push(request.url ?? '')
    response.writeHead(400, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ detail: 'This runner name already exists on this instance' }))
  })
  await new Promise<void>((resolve) => hostile.listen(0, '127.0.0.1', resolve))
  const { port } = hostile.address() as { port: number }
  await expect(identify(`http://127.0.0.1:${port}`, 'shy', registrationToken)).rejects.toThrow('has a runner with the name "shy"')
  expect(requested).toEqual(['/api/v1/runners/register'])
  hostile.close()
})

it('refuses an invalid URL', async () => {
  await writeFile(join(folder, 'runner-00.json'), 'broken')
  await expect(identify('localhost:9000', 'a', 'ptrrt-a', world.protocol)).rejects.toThrow(
    '"localhost:9000" is no address such as https://example.org.',
  )
})
