// Avatars and banners of local actors: stored, shown, served, and removed.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import sharp from 'sharp'
import { type Client, login } from '../../../scripts/demo/client.ts'
import { makeVideo } from '../../support/builders.ts'
import { startTestNode, storedNames, type TestNode } from '../../support/node.ts'
import { addUser, formWith, noise, openDatabase, plain, type Query } from './users.ts'

interface Image {
  width: number
  path: string
}

let node: TestNode
let query: Query
let close: () => Promise<void>

beforeAll(async () => {
  node = await startTestNode()
  ;({ query, close } = await openDatabase(node))
})
afterAll(async () => {
  await close?.()
  await node?.stop()
})

let users = 0
const newUser = () => addUser(node, query, { username: `painter${++users}` })
const pick = (client: Client, bytes: Uint8Array | string, filename: string) =>
  client.raw('/api/v1/users/me/avatar/pick', { method: 'POST', body: formWith('avatarfile', bytes, filename) })
const picked = async (client: Client, bytes: Uint8Array, filename: string): Promise<Image[]> =>
  (await (await pick(client, bytes, filename)).json()).avatars
const served = async ({ path }: Image) => {
  const answer = await fetch(node.base + path)
  return { type: answer.headers.get('content-type'), bytes: Buffer.from(await answer.arrayBuffer()) }
}
const stored = () => storedNames(node, 'avatars')
const pending = () => query("select name from pending_file where kind = 'avatars'")

describe('an uploaded avatar', () => {
  it.each([
    ['png', 'image/png'],
    ['jpeg', 'image/jpeg'],
    ['webp', 'image/webp'],
    ['gif', 'image/png'],
  ] as const)('may be %s and is served in each size as %s, without metadata', async (format, type) => {
    const { client } = await newUser()
    const bytes = await plain(700, 500)
      .withExif({ IFD0: { Artist: 'Somebody' }, IFD3: { GPSLatitude: '48/1 51/1 0/1' } })
      [format]()
      .toBuffer()
    const avatars = await picked(client, bytes, format === 'jpeg' ? 'Me.JPG' : `me.${format}`)
    expect(avatars.map(({ width }) => width)).toEqual([1500, 600, 120, 48])
    for (const avatar of avatars) {
      const file = await served(avatar)
      const { width, height, exif, xmp, format: found } = await sharp(file.bytes).metadata()
      expect({ type: file.type, width, height, exif, xmp, found }).toEqual({
        type,
        width: avatar.width,
        height: avatar.width,
        exif: undefined,
        xmp: undefined,
        found: type.replace('image/', ''),
      })
      expect(file.bytes.includes('Somebody')).toBe(false)
    }
  })

  it('keeps its animation, except in sizes that would be too large', async () => {
    const frames = 12
    const strip = await noise(40, 40 * frames)
      .raw()
      .toBuffer({ resolveWithObject: true })
    const raw = { width: 40, height: 40 * frames, channels: 3 as const, pageHeight: 40 }
    const gif = await sharp(strip.data, { raw }).gif().toBuffer()
    const { client } = await newUser()
    const pages: Record<number, number> = {}
    for (const avatar of await picked(client, gif, 'me.gif')) {
      pages[avatar.width] = (await sharp((await served(avatar)).bytes).metadata()).pages ?? 1
    }
    expect(pages).toEqual({ 1500: 1, 600: 1, 120: frames, 48: frames })
  })

  it('replaces the previous one, with its files', async () => {
    const { client } = await newUser()
    const before = (await stored()).length
    const first = await picked(client, await plain(50, 50).png().toBuffer(), 'a.png')
    const second = await picked(client, await plain(50, 50).jpeg().toBuffer(), 'b.jpg')
    expect((await stored()).length - before).toBe(4)
    expect(await Promise.all(first.map(async ({ path }) => (await fetch(node.base + path)).status))).toEqual(first.map(() => 404))
    const { account } = await client.get<{ account: { avatars: Image[] } }>('/api/v1/users/me')
    expect(account.avatars.map(({ path }) => path)).toEqual(second.map(({ path }) => path).reverse())
    expect(await client.send('DELETE', '/api/v1/users/me/avatar')).toEqual({ avatars: [] })
    expect((await stored()).length).toBe(before)
    expect(await pending()).toEqual([])
  })

  it.each([
    ['a text with the name of a picture', 'no picture', 'me.png'],
    ['a picture with another name', 'picture', 'me.txt'],
    ['an SVG', '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>', 'me.svg'],
    ['half a picture', 'half', 'me.png'],
    ['nothing', '', 'me.png'],
  ])('is refused when it is %s, and nothing changes', async (_what, content, filename) => {
    const { client } = await newUser()
    const whole = await plain(50, 50).png().toBuffer()
    const kept = await picked(client, whole, 'kept.png')
    const files = await stored()
    const bytes = content === 'picture' ? whole : content === 'half' ? whole.subarray(0, Math.floor(whole.length / 2)) : content
    const answer = await pick(client, bytes, filename)
    expect({ status: answer.status, body: await answer.json() }).toMatchObject({
      status: 400,
      body: { 'invalid-params': { avatarfile: { location: 'body' } } },
    })
    expect((await fetch(`${node.base}${kept[0]?.path}`)).status).toBe(200)
    expect(await stored()).toEqual(files)
    expect(await pending()).toEqual([])
  })

  it('is refused above the limit, with the limit in the message', async () => {
    const { client } = await newUser()
    const answer = await pick(client, Buffer.alloc(4 * 1024 * 1024 + 1, 1), 'me.png')
    expect([answer.status, answer.headers.get('x-file-maximum-size')]).toEqual([413, '4M'])
  })

  it('names its field when the body is no form', async () => {
    const { client } = await newUser()
    const headers = { 'content-type': 'application/json' }
    const answer = await client.raw('/api/v1/users/me/avatar/pick', { method: 'POST', headers, body: '{}' })
    expect({ status: answer.status, body: await answer.json() }).toMatchObject({
      status: 400,
      body: { 'invalid-params': { avatarfile: {} } },
    })
  })

  it('is shown everywhere with the account', async () => {
    const { client, channelId, accountId, username } = await newUser()
    const avatars = await picked(client, await plain(50, 50).png().toBuffer(), 'a.png')
    const paths = avatars.map(({ path }) => path).reverse()
    const video = await makeVideo({ query }, { channelId })
    await client.send('POST', `/api/v1/videos/${video.uuid}/comment-threads`, { text: 'Hello' })
    const comments = await client.get<{ data: unknown[] }>(`/api/v1/videos/${video.uuid}/comment-threads`)
    const owned = await client.get<{ data: unknown[] }>('/api/v1/users/me/videos/comments')
    const list = await client.get<{ data: unknown[] }>('/api/v1/videos?sort=-createdAt')
    const details = await client.get<object>(`/api/v1/videos/${video.uuid}`)
    const account = await client.get<object>(`/api/v1/accounts/${username}@${new URL(node.base).host}`)
    const shown = { avatars: paths.map((path) => ({ path })) }
    expect(account).toMatchObject({ id: accountId, ...shown })
    expect(comments.data[0]).toMatchObject({ account: shown })
    expect(owned.data).toMatchObject([{ text: 'Hello', account: shown }])
    expect(list.data[0]).toMatchObject({ account: shown })
    expect(details).toMatchObject({ account: shown, channel: { ownerAccount: shown } })
  })

  it('is removed with its actor', async () => {
    const { client, actorId } = await newUser()
    const avatars = await picked(client, await plain(50, 50).png().toBuffer(), 'a.png')
    await query('delete from actor where id = $1', [actorId])
    const names = (await pending()).map(({ name }) => `/lazy-static/avatars/${name}`)
    expect(names.sort()).toEqual(avatars.map(({ path }) => path).sort())
  })
})

describe('the pictures of the instance', () => {
  it('are its avatar and its banner, in the sizes of the contract', async () => {
    const admin = await login(node.base, node.username, node.password)
    const bytes = await plain(500, 300).png().toBuffer()
    for (const kind of ['avatar', 'banner']) {
      const form = formWith(`${kind}file`, bytes, 'x.png')
      await admin.send('POST', `/api/v1/config/instance-${kind}/pick`, form)
    }
    const images = () =>
      query(
        `select i.type, i.width, i.height from actor_image i join actor a on a.id = i.actor_id
         where a.type = 'Application' order by i.type, i.width`,
      )
    expect(await images()).toEqual([
      { type: 1, width: 48, height: 48 },
      { type: 1, width: 120, height: 120 },
      { type: 1, width: 600, height: 600 },
      { type: 1, width: 1500, height: 1500 },
      { type: 2, width: 600, height: 100 },
      { type: 2, width: 1920, height: 317 },
    ])
    const actor = await (await fetch(`${node.base}/accounts/peertube`, { headers: { accept: 'application/activity+json' } })).json()
    expect(actor.icon).toHaveLength(4)
    const banner = await fetch(actor.image.at(-1).url)
    expect((await sharp(Buffer.from(await banner.arrayBuffer())).metadata()).width).toBe(1920)
    for (const kind of ['avatar', 'banner']) await admin.send('DELETE', `/api/v1/config/instance-${kind}`)
    expect(await images()).toEqual([])
  })
})
