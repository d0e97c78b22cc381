// Real nodes: changes of an account, its pictures and the instance, as other nodes show them, and the removal of an account with
// everything it made.

import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import sharp from 'sharp'
import { login } from '../../scripts/demo/client.ts'
import { media } from '../support/media.ts'
import { until } from '../support/until.ts'
import { arrives, commentSeen, commentsOn, follow, seenOn, startNodes, takeTurns, videoOn } from './nodes.ts'
import type { FederatedNode } from './support.ts'

interface ActorView {
  displayName: string
  description: string | null
  avatars: { width: number; path: string }[]
}
interface ChannelView extends ActorView {
  isLocal: boolean
  ownerAccount: { name: string }
  banners: { width: number }[]
}
interface Following {
  following: { name: string; host: string; banners: { width: number }[] }
}

let nodes: FederatedNode[] = []
let bytes: Buffer
beforeAll(async () => {
  bytes = await readFile(await media('small.mp4'))
  nodes = await startNodes(2)
  for (const [by, of] of [nodes, nodes.toReversed()]) {
    if (by && of) await follow(by, { handles: [`root@${of.host}`] })
  }
})
afterAll(async () => {
  await Promise.all(nodes.map((node) => node.stop()))
})

async function pick(node: FederatedNode, path: string, field: string): Promise<void> {
  const picture = { width: 60, height: 60, channels: 3, background: 'teal' } as const
  const form = new FormData()
  form.set(field, new Blob([Uint8Array.from(await sharp({ create: picture }).png().toBuffer())]), 'x.png')
  await node.client.send('POST', path, form)
}
const accountOn = (node: FederatedNode, of: FederatedNode, name = 'root') => seenOn<ActorView>(node, `/api/v1/accounts/${name}@${of.host}`)
const becomes = (node: FederatedNode, of: FederatedNode, fits: (account: ActorView) => boolean, what: string) =>
  until(
    async () => {
      const account = await accountOn(node, of)
      return account && fits(account) ? account : undefined
    },
    { what: `${what} on ${node.base}` },
  )

const living = (node: FederatedNode, url: string) => node.query('select 1 from actor where url = $1 and deleted_at is null', [url])

describe('from one node to another', () => {
  const pair = takeTurns(() => nodes)

  it('an account with a new name, description and picture is shown with them', async () => {
    const { from, to } = pair()
    await from.client.send('PUT', '/api/v1/users/me', { displayName: `Root of ${from.host}`, description: 'Hello' })
    const renamed = await becomes(to, from, ({ displayName }) => displayName === `Root of ${from.host}`, 'the name')
    expect(renamed.description).toBe('Hello')
    await pick(from, '/api/v1/users/me/avatar/pick', 'avatarfile')
    const { avatars } = await becomes(to, from, (account) => account.avatars.length > 0, 'the avatar')
    expect((await fetch(`${to.base}${avatars[0]?.path}`)).status).toBe(200)
    await from.client.send('DELETE', '/api/v1/users/me/avatar')
    await becomes(to, from, (account) => account.avatars.length === 0, 'the end of the avatar')
  })

  it('an instance with a banner is shown with it', async () => {
    const { from, to } = pair()
    await pick(from, '/api/v1/config/instance-banner/pick', 'bannerfile')
    await until(
      async () => {
        const { data } = await to.client.get<{ data: Following[] }>('/api/v1/server/following')
        const one = data.find(({ following: { name, host } }) => name === 'peertube' && host === from.host)
        return one && one.following.banners.length > 0
      },
      { what: 'the banner' },
    )
  })

  it("a channel is shown as it is, changes with its videos' support text, and is removed with them", async () => {
    const { from, to } = pair()
    const rest = `/api/v1/video-channels/films_here`
    const fields = { name: 'films_here', displayName: 'Films', description: 'About films', support: null }
    const { videoChannel } = await from.client.send<{ videoChannel: { id: number } }>('POST', '/api/v1/video-channels', fields)
    const { uuid } = await from.upload(bytes, { channelId: String(videoChannel.id) })
    await arrives(to, uuid)
    const there = (path = '') => seenOn<ChannelView>(to, `${rest}@${from.host}${path}`)
    expect(await there()).toMatchObject({ ...fields, isLocal: false, ownerAccount: { name: 'root' } })
    expect(await there('/videos')).toMatchObject({ total: 1, data: [{ uuid }] })

    await from.client.send('PUT', rest, { displayName: 'Movies', support: 'Coffee', bulkVideosSupportUpdate: true })
    await pick(from, `${rest}/banner/pick`, 'bannerfile')
    await until(async () => (await there())?.displayName === 'Movies', { what: 'the name' })
    await until(async () => (await there())?.banners.length === 2, { what: 'the banner' })
    const supported = async () => (await seenOn<{ support: string | null }>(to, `/api/v1/videos/${uuid}`))?.support
    await until(async () => (await supported()) === 'Coffee', { what: 'the support' })

    await from.client.send('DELETE', rest)
    await until(async () => !(await videoOn(to, uuid)), { what: 'the end of its video' })
    await until(async () => !(await there()), { what: 'the end of the channel' })
    expect(await living(to, `${from.base}/video-channels/films_here`)).toEqual([])
    expect(await accountOn(to, from)).toMatchObject({ name: 'root' })
  })

  it('a removed account is gone with its channel, videos, comments and likes', async () => {
    const { from, to } = pair()
    const { uuid } = await to.upload(bytes)
    await arrives(from, uuid)
    const leaver = { username: 'leaver', email: 'leaver@example.com', password: 'a long password', role: 2 }
    const { user } = await from.client.send<{ user: { id: number } }>('POST', '/api/v1/users', leaver)
    const client = await login(from.base, leaver.username, leaver.password)
    const me = await client.get<{ videoChannels: { id: number; name: string }[] }>('/api/v1/users/me')
    const form = new FormData()
    form.set('channelId', String(me.videoChannels[0]?.id))
    form.set('name', 'Soon gone')
    form.set('privacy', '1')
    form.set('videofile', new File([new Uint8Array(bytes)], 'small.mp4', { type: 'video/mp4' }))
    const { video } = await client.send<{ video: { uuid: string } }>('POST', '/api/v1/videos/upload', form)
    await arrives(to, video.uuid)
    await client.send('POST', `/api/v1/videos/${uuid}/comment-threads`, { text: 'Farewell' })
    await client.send('PUT', `/api/v1/videos/${uuid}/rate`, { rating: 'like' })
    await commentSeen(to, uuid, ({ text }) => text === 'Farewell', 'the comment')
    await until(async () => (await videoOn(to, uuid))?.likes === 1, { what: 'the like' })
    expect(await accountOn(to, from, 'leaver')).toMatchObject({ displayName: 'leaver' })

    const channel = `${from.base}/video-channels/${me.videoChannels[0]?.name}`
    expect(await living(to, channel)).toHaveLength(1)

    await from.client.send('DELETE', `/api/v1/users/${user.id}`)
    await until(async () => !(await accountOn(to, from, 'leaver')), { what: 'the end of the account' })
    await until(async () => !(await videoOn(to, video.uuid)), { what: 'the end of its video' })
    await until(async () => !(await commentsOn(to, uuid)).some(({ text }) => text === 'Farewell'), {
      what: 'the end of its comment',
    })
    await until(async () => (await videoOn(to, uuid))?.likes === 0, { what: 'the end of its like' })
    expect(await living(to, channel)).toEqual([])
  })
})
