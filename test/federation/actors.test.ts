// Changes of local actors, in activities to other servers and in documents.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import sharp from 'sharp'
import { login } from '../../scripts/demo/client.ts'
import { type FakePeer, type JsonObject, startFakePeer } from '../support/fake-peer.ts'
import { type FederatedNode, introduce, startFederatedNode } from './support.ts'

let node: FederatedNode
/** Follows the local account. */
let near: FakePeer
/** Follows the local instance only. */
let far: FakePeer

const root = () => `${node.base}/accounts/root`

beforeAll(async () => {
  ;[node, near, far] = await Promise.all([startFederatedNode(), startFakePeer(), startFakePeer()])
  const nora = await introduce(node, near, 'nora')
  await introduce(node, far, 'fred')
  await node.deliver(nora.account, near.activity(nora.account, 'Follow', root()))
  await node.deliver(far.instance, far.activity(far.instance, 'Follow', node.instance))
  await near.awaited('the answer', () => near.of('Accept').length === 1)
  await far.awaited('the answer', () => far.of('Accept').length === 1)
})
afterAll(async () => {
  await Promise.all([near?.close(), far?.close(), node?.stop()])
})
beforeEach(() => {
  for (const peer of [near, far]) peer.received.length = 0
})

const put = (body: object) => node.client.send('PUT', '/api/v1/users/me', body)
const update = (peer: FakePeer) => peer.awaited('an Update', (one) => one.activity.type === 'Update')
const documentOf = async (url: string): Promise<JsonObject> =>
  await (await fetch(url, { headers: { accept: 'application/activity+json' } })).json()

async function pick(path: string, field: string): Promise<void> {
  const bytes = await sharp({ create: { width: 60, height: 60, channels: 3, background: 'teal' } })
    .png()
    .toBuffer()
  const form = new FormData()
  form.set(field, new Blob([Uint8Array.from(bytes)]), 'x.png')
  await node.client.send('POST', path, form)
}

describe('an account', () => {
  it('with a new name sends an Update to its followers, and its document changes at once', async () => {
    expect(await documentOf(root())).toMatchObject({ name: 'root' })
    await put({ displayName: 'The Root', description: 'about me' })
    const { activity, path } = await update(near)
    expect(path).toBe('/inbox')
    expect(activity).toMatchObject({
      actor: root(),
      to: ['https://www.w3.org/ns/activitystreams#Public'],
      cc: [`${root()}/followers`],
      object: { type: 'Person', id: root(), name: 'The Root', summary: 'about me' },
      signature: { type: 'RsaSignature2017' },
    })
    expect(await documentOf(root())).toMatchObject({ name: 'The Root', summary: 'about me' })
  })

  it('sends nothing for changes that other servers do not see', async () => {
    await put({ displayName: 'The Root', theme: 'default', p2pEnabled: false })
    await put({ displayName: 'Root again' })
    await update(near)
    expect(near.of('Update').map(({ activity }) => (activity.object as JsonObject).name)).toEqual(['Root again'])
    expect(far.of('Update')).toEqual([])
  })

  it('shows its avatar in all sizes, and no avatar once it is removed', async () => {
    await pick('/api/v1/users/me/avatar/pick', 'avatarfile')
    const { activity } = await update(near)
    const icons = (activity.object as { icon: { url: string; width: number; mediaType: string }[] }).icon
    expect(icons.map(({ width, mediaType }) => [width, mediaType])).toEqual([
      [48, 'image/png'],
      [120, 'image/png'],
      [600, 'image/png'],
      [1500, 'image/png'],
    ])
    expect((await fetch(icons[0]?.url ?? '')).status).toBe(200)
    expect((await documentOf(root())).icon).toEqual(icons)
    near.received.length = 0
    await node.client.send('DELETE', '/api/v1/users/me/avatar')
    expect((await update(near)).activity.object).not.toHaveProperty('icon')
    expect(await documentOf(root())).not.toHaveProperty('icon')
  })
})

describe('the instance', () => {
  it('with a new banner sends an Update to its followers, who also see it in the list of follows', async () => {
    await pick('/api/v1/config/instance-banner/pick', 'bannerfile')
    const { activity } = await update(far)
    expect(activity).toMatchObject({ actor: node.instance, object: { type: 'Application', id: node.instance } })
    expect((activity.object as { image: unknown[] }).image).toHaveLength(2)
    const followers = await node.client.get<{ data: { following: { banners: { width: number }[] } }[] }>('/api/v1/server/followers')
    expect(followers.data[0]?.following.banners.map(({ width }) => width)).toEqual([600, 1920])
  })

  it('with a new name or short description sends an Update to its followers, and its document changes', async () => {
    await node.client.send('PUT', '/api/v1/config/custom', {
      ...(await node.client.get<Record<string, unknown>>('/api/v1/config/custom')),
      instance: {
        ...(await node.client.get<{ instance: object }>('/api/v1/config/custom')).instance,
        name: 'Another name',
        shortDescription: 'Another sentence',
      },
    })
    const { activity } = await update(far)
    expect(activity).toMatchObject({
      actor: node.instance,
      object: { type: 'Application', name: 'Another name', summary: 'Another sentence' },
    })
    expect(await documentOf(node.instance)).toMatchObject({ name: 'Another name', summary: 'Another sentence' })
  })
})

describe('a removed account', () => {
  it('is a Tombstone, sends its Delete also to servers that it only commented or followed on, and has no handle', async () => {
    const { user } = await node.client.send<{ user: { id: number } }>('POST', '/api/v1/users', {
      username: 'leaver',
      email: 'leaver@example.com',
      password: 'a long password',
      role: 2,
    })
    const leaver = await login(node.base, 'leaver', 'a long password')
    const strange = await startFakePeer()
    try {
      const sam = await introduce(node, strange, 'sam')
      const document = strange.video(sam)
      await node.deliver(sam.account, strange.activity(sam.account, 'Create', document))
      const [video] = await node.query<{ id: number }>('select id from video where url = $1', [document.id])
      await leaver.send('PUT', `/api/v1/videos/${video?.id}/rate`, { rating: 'like' })
      await strange.awaited('the Like', ({ activity }) => activity.type === 'Like')
      await node.client.send('DELETE', `/api/v1/users/${user.id}`)
      const url = `${node.base}/accounts/leaver`
      const { activity } = await strange.awaited(
        'the Delete of the account',
        (one) => one.activity.type === 'Delete' && one.activity.object === url,
      )
      expect(activity).toMatchObject({ id: `${url}/delete`, actor: url })
      const gone = await fetch(url, { headers: { accept: 'application/activity+json' } })
      expect(gone.status).toBe(410)
      expect(await gone.json()).toMatchObject({ type: 'Tombstone', id: url, formerType: 'Person' })
      const handle = `acct:leaver@${node.host}`
      expect((await fetch(`${node.base}/.well-known/webfinger?resource=${handle}`)).status).toBe(410)
      expect((await fetch(`${node.base}/.well-known/webfinger?resource=acct:never@${node.host}`)).status).toBe(404)
    } finally {
      await strange.close()
    }
  })
})
