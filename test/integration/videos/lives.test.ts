// Lives over REST, beyond the recorded exchanges: limits, permissions, pictures, and configuration.

import { openAsBlob } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type Client, login } from '../../../scripts/demo/client.ts'
import { media } from '../../support/media.ts'
import { startTestNode, type TestNode } from '../../support/node.ts'
import { until } from '../../support/until.ts'

let node: TestNode
let root: Client
let other: Client
let channelId: number
beforeAll(async () => {
  node = await startTestNode({ roles: ['web', 'federation', 'media'], config: { live: { enabled: true, rtmp: { port: 1935 } } } })
  root = await login(node.base, node.username, node.password)
  await root.send('POST', '/api/v1/users', { username: 'other', password: 'other-password', email: 'other@example.com', role: 2 })
  other = await login(node.base, 'other', 'other-password')
  channelId = await channelOf(root)
})
afterAll(() => node?.stop())

async function channelOf(user: Client): Promise<number> {
  const me = await user.get<{ videoChannels: { id: number }[] }>('/api/v1/users/me')
  return me.videoChannels[0]?.id ?? 0
}

type Created = { video: { id: number; uuid: string; shortUUID: string } }
const create = async (fields: object = {}, user = root) =>
  (await user.send<Created>('POST', '/api/v1/videos/live', { channelId: await channelOf(user), name: 'A live', privacy: 1, ...fields }))
    .video
const end = (id: number) => root.send('DELETE', `/api/v1/videos/${id}`)
const refusal = async (response: Response) => ({
  status: response.status,
  ...((await response.json()) as { code?: string; 'invalid-params'?: object }),
})
const post = (user: Client, body: object) =>
  user.raw('/api/v1/videos/live', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })

describe('a live', () => {
  it('waits for its stream, with its own pictures, and is in no list', async () => {
    const { id, uuid } = await create({ name: 'Waiting' })
    expect(await root.get(`/api/v1/videos/${uuid}`)).toMatchObject({
      isLive: true,
      state: { id: 4, label: 'Waiting for livestream' },
      duration: 0,
    })
    const { data } = await root.get<{ data: { name: string }[] }>('/api/v1/videos?isLive=true')
    expect(data).toEqual([])
    const { thumbnailPath, previewPath } = await root.get<Record<'thumbnailPath' | 'previewPath', string>>(`/api/v1/videos/${uuid}`)
    for (const path of [thumbnailPath, previewPath]) {
      const picture = await until(async () => {
        const response = await fetch(new URL(path, node.base))
        return response.ok ? response : undefined
      })
      expect(picture.headers.get('content-type')).toBe('image/jpeg')
    }
    await end(id)
  })

  it('has the uploaded picture, by a form with texts for its settings', async () => {
    const form = new FormData()
    const fields = { name: 'By form', permanentLive: 'true', saveReplay: 'true', 'replaySettings[privacy]': '3', latencyMode: '3' }
    for (const [name, value] of Object.entries({ channelId: String(channelId), ...fields })) form.set(name, value)
    form.set('thumbnailfile', await openAsBlob(await media('picture.png')), 'picture.png')
    const { video } = await root.send<Created>('POST', '/api/v1/videos/live', form)
    expect(await root.get(`/api/v1/videos/live/${video.shortUUID}`)).toEqual({
      streamKey: expect.stringMatching(/^[0-9a-f-]{36}$/),
      rtmpUrl: 'rtmp://127.0.0.1:1935/live',
      rtmpsUrl: null,
      permanentLive: true,
      saveReplay: true,
      replaySettings: { privacy: 3 },
      latencyMode: 3,
    })
    await end(video.id)
  })

  it('has a replay with its own privacy by default, and loses it with the replay', async () => {
    const { id, uuid } = await create({ privacy: 2, saveReplay: true })
    const settings = () => root.get(`/api/v1/videos/live/${uuid}`)
    expect(await settings()).toMatchObject({ saveReplay: true, replaySettings: { privacy: 2 } })
    await root.send('PUT', `/api/v1/videos/live/${uuid}`, { replaySettings: { privacy: 1 } })
    expect(await settings()).toMatchObject({ saveReplay: true, replaySettings: { privacy: 2 } })
    await root.send('PUT', `/api/v1/videos/live/${uuid}`, { saveReplay: true, replaySettings: { privacy: 4 } })
    expect(await settings()).toMatchObject({ saveReplay: true, replaySettings: { privacy: 4 } })
    await root.send('PUT', `/api/v1/videos/live/${uuid}`, { saveReplay: false })
    expect(await settings()).not.toHaveProperty('replaySettings')
    await end(id)
  })

  it('shows its key to its owner and to administrators, and is changed by nobody else', async () => {
    const { id, uuid } = await create({}, other)
    const path = `/api/v1/videos/live/${uuid}`
    expect(await root.get(path)).toHaveProperty('streamKey')
    expect(await (await fetch(new URL(path, node.base))).json()).toEqual({ permanentLive: false, saveReplay: false, latencyMode: 1 })
    const { id: ofRoot } = await create()
    expect(
      await refusal(
        await other.raw(`/api/v1/videos/live/${ofRoot}`, { method: 'PUT', headers: { 'content-type': 'application/json' }, body: '{}' }),
      ),
    ).toMatchObject({ status: 403 })
    await end(id)
    await end(ofRoot)
  })

  it('is refused with all invalid fields', async () => {
    const bad = { channelId, name: 'x', privacy: 9, latencyMode: 4, saveReplay: true, replaySettings: { privacy: 5 } }
    const refused = await refusal(await post(root, bad))
    expect([refused.status, Object.keys(refused['invalid-params'] ?? {}).sort()]).toEqual([
      400,
      ['latencyMode', 'name', 'privacy', 'replaySettings.privacy'],
    ])
  })

  it('is limited to three per user', async () => {
    const lives = [await create({}, other), await create({}, other), await create({ permanentLive: true }, other)]
    const mine = { channelId: await channelOf(other), name: 'Too many', privacy: 1 }
    expect(await refusal(await post(other, mine))).toMatchObject({ status: 403, code: 'max_user_lives_limit_reached' })
    await end(lives[0]?.id ?? 0)
    expect((await post(other, mine)).status).toBe(200)
  })

  it('is 404 for a video that is no live', async () => {
    expect(await refusal(await root.raw('/api/v1/videos/live/424242/sessions'))).toMatchObject({ status: 404 })
  })
})
