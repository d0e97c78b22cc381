// Live ingest of a whole server: RTMP over TLS, and limits on guessing stream keys.

import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { type Client, login } from '../../../scripts/demo/client.ts'
import { publish } from '../../support/live.ts'
import { startTestNode, type TestNode } from '../../support/node.ts'
import { run } from '../../support/postgres.ts'
import { clientHandshake, mediaMessage, publishCommands, rtmpClient } from '../../support/rtmp-client.ts'
import { until } from '../../support/until.ts'

const fixture = (name: string) => fileURLToPath(new URL(`../../fixtures/mail/${name}`, import.meta.url))
const GUESSES = 3
const ending = new AbortController()
let node: TestNode
let root: Client
beforeAll(async () => {
  const rtmps = { enabled: true, port: 0, key_file: fixture('key.pem'), cert_file: fixture('certificate.pem') }
  node = await startTestNode({
    config: {
      live: { enabled: true, rtmps },
      transcoding: { enabled: false },
      rates_limit: { login: { max: GUESSES, window: '1 hour' } },
      vireo: { live: { segment_duration: '1 second', reconnect_window: 0 } },
    },
  })
  root = await login(node.base, node.username, node.password)
})
afterAll(() => {
  ending.abort()
  return node?.stop()
})

async function create(): Promise<{ id: number; uuid: string; key: string }> {
  const { videoChannels } = await root.get<{ videoChannels: { id: number }[] }>('/api/v1/users/me')
  const fields = { channelId: videoChannels[0]?.id, name: 'A live', privacy: 1 }
  const { video } = await root.send<{ video: { id: number; uuid: string } }>('POST', '/api/v1/videos/live', fields)
  const { streamKey } = await root.get<{ streamKey: string }>(`/api/v1/videos/live/${video.id}`)
  return { ...video, key: streamKey }
}
const stateOf = async ({ uuid }: { uuid: string }) => (await root.get<{ state: { id: number } }>(`/api/v1/videos/${uuid}`)).state.id

it('a stream over TLS is published and ends like any other', async () => {
  const live = await create()
  const sending = publish(`rtmps://127.0.0.1:${node.server.live.rtmps}/live/${live.key}`, { seconds: 6, paced: true })
  await until(async () => (await stateOf(live)) === 1, { what: 'the live' })
  expect((await sending).code).toBe(0)
  await until(async () => (await stateOf(live)) === 5, { what: 'the end' })
})

it('a publisher who is refused with the right key is not counted as guessing', async () => {
  const live = await create()
  const sending = publish(`rtmp://127.0.0.1:${node.server.live.rtmp}/live/${live.key}`, {
    seconds: 600,
    paced: true,
    signal: ending.signal,
  })
  await until(async () => (await stateOf(live)) === 1, { what: 'the live' })
  for (let attempt = 0; attempt < GUESSES + 2; attempt += 1) {
    const { said } = await publish(`rtmp://127.0.0.1:${node.server.live.rtmp}/live/${live.key}`, { seconds: 1 })
    expect(said).toContain('Another publisher streams to this live.')
  }
  ending.abort('finished')
  await sending
  await until(async () => (await stateOf(live)) === 5, { what: 'the end' })
})

it('the process of a stream ends with its session, even if its publisher continues', async () => {
  const live = await create()
  const { socket, closed, received } = await rtmpClient(node.server.live.rtmp ?? 0)
  socket.write(Buffer.concat([clientHandshake(), publishCommands(live.key)]))
  await until(() => received().includes('The stream is published.'))
  // No segment ever results from it.
  const sending = setInterval(() => socket.write(mediaMessage(8, 0, Buffer.from([0xaf, 1]))), 100)
  try {
    await run(node.databaseUrl, `update live_session set state = 'ended' where video_id = ${live.id}`)
    await closed
  } finally {
    clearInterval(sending)
    socket.destroy()
  }
  expect(received().toString('latin1')).toContain('another connection continues it')
})

it('a publisher who guesses keys is refused after some attempts, also with the right one', async () => {
  const live = await create()
  const offer = async (key: string) => (await publish(`rtmp://127.0.0.1:${node.server.live.rtmp}/live/${key}`, { seconds: 1 })).said
  for (let guess = 0; guess < GUESSES; guess += 1) {
    expect(await offer(`00000000-0000-4000-8000-00000000000${guess}`)).toContain('There is no live with this key.')
  }
  expect(await offer('00000000-0000-4000-8000-000000000009')).toContain('Too many wrong passwords or codes')
  expect(await offer(live.key)).toContain('Too many wrong passwords or codes')
  expect(await stateOf(live)).toBe(4)
})
