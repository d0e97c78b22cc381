// Channels over REST: creation, changes, ownership, lists, and pictures.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { Client } from '../../../scripts/demo/client.ts'
import { type MadeVideo, makeRemoteChannel, makeVideo, type VideoOptions } from '../../support/builders.ts'
import { startTestNode, type TestNode } from '../../support/node.ts'
import { until } from '../../support/until.ts'
import { addUser, formWith, openDatabase, plain, type Query } from '../me/users.ts'

interface ChannelView {
  id: number
  name: string
  displayName: string
  description: string | null
  support: string | null
  isLocal: boolean
  ownerAccount: { name: string }
  banners: { path: string; width: number }[]
  videosCount?: number
  totalViews?: number
  viewsPerDay?: { date: string; views: number }[]
}
interface List<T> {
  total: number
  data: T[]
}

let node: TestNode
let query: Query
let closeDatabase: () => Promise<void>
let serial = 0

beforeAll(async () => {
  node = await startTestNode({
    config: { transcoding: { enabled: false }, video_channels: { max_per_user: 3 } },
  })
  const database = await openDatabase(node)
  query = database.query
  closeDatabase = database.close
})
afterAll(async () => {
  await closeDatabase?.()
  await node?.stop()
})

const newUser = (role: 0 | 1 | 2 = 2) => addUser(node, query, { username: `maker${++serial}`, role })

async function makeVideos(all: VideoOptions[]): Promise<MadeVideo[]> {
  const made: MadeVideo[] = []
  for (const options of all) made.push(await makeVideo({ query }, options))
  return made
}

const post = (client: Client, body: object) => json(client, 'POST', '/api/v1/video-channels', body)
async function json(client: Client, method: string, path: string, body?: object) {
  const answer = await client.raw(path, {
    method,
    ...(body ? { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) } : {}),
  })
  const text = await answer.text()
  return { status: answer.status, body: text === '' ? undefined : JSON.parse(text) }
}
const get = async <T>(path: string): Promise<{ status: number; body: T }> => {
  const answer = await fetch(node.base + path)
  return { status: answer.status, body: (await answer.json()) as T }
}
const channelOf = async (handle: string) => (await get<ChannelView>(`/api/v1/video-channels/${handle}`)).body
const host = () => new URL(node.base).host

describe('a new channel', () => {
  it('is shown with all its fields by its handle, with and without the host, and to its owner', async () => {
    const { client, username } = await newUser()
    const name = `films_of_${username}`
    const fields = { displayName: 'Films', description: 'About films', support: 'Send coffee' }
    const made = await post(client, { name, ...fields })
    expect(made).toEqual({ status: 200, body: { videoChannel: { id: expect.any(Number) } } })
    const expected = { id: made.body.videoChannel.id, name, ...fields, isLocal: true, ownerAccount: { name: username } }
    expect(await channelOf(name)).toMatchObject(expected)
    expect(await channelOf(`${name.toUpperCase()}@${host().toUpperCase()}`)).toMatchObject(expected)
    const me = await client.get<{ videoChannels: { name: string }[] }>('/api/v1/users/me')
    expect(me.videoChannels.map((channel) => channel.name)).toEqual([`${username}_channel`, name])
    const actor = await fetch(`${node.base}/video-channels/${name}`, {
      headers: { accept: 'application/activity+json' },
    })
    expect(await actor.json()).toMatchObject({
      type: 'Group',
      name: 'Films',
      summary: 'About films',
      support: 'Send coffee',
    })
  })

  it('needs a name that no account or channel has, ignoring case', async () => {
    const { client, username } = await newUser()
    for (const name of [username, `${username}_channel`, 'peertube']) {
      expect((await post(client, { name, displayName: 'Twin' })).status).toBe(409)
    }
    for (const name of ['With spaces', 'Great', 'é', '.dot', 'a'.repeat(51), '']) {
      const { status, body } = await post(client, { name, displayName: 'Odd' })
      expect({ status, params: Object.keys(body['invalid-params'] ?? {}) }).toEqual({ status: 400, params: ['name'] })
    }
  })

  it('is refused beyond the configured number, also when several are created at once', async () => {
    const { client, username } = await newUser()
    const answers = await Promise.all(
      [1, 2, 3, 4].map((number) => post(client, { name: `${username}_${number}`, displayName: 'One of many' })),
    )
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 200, 400, 400])
    const list = await get<List<ChannelView>>(`/api/v1/accounts/${username}/video-channels`)
    expect(list.body.total).toBe(3)
  })

  it('is created once when it is requested twice at once', async () => {
    const { client, username } = await newUser()
    const twin = { name: `${username}_twin`, displayName: 'Twin' }
    const answers = await Promise.all([post(client, twin), post(client, twin)])
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409])
  })
})

describe('a change of a channel', () => {
  it('keeps omitted fields, and clears fields with null', async () => {
    const { client, username } = await newUser()
    const path = `/api/v1/video-channels/${username}_channel`
    const change = (body: object) => json(client, 'PUT', path, body)
    expect(await change({ displayName: 'Named', description: 'Described', support: 'Supported' })).toMatchObject({
      status: 204,
    })
    expect((await change({ description: null })).status).toBe(204)
    expect((await json(client, 'PUT', path)).status).toBe(204)
    expect(await channelOf(`${username}_channel`)).toMatchObject({
      displayName: 'Named',
      description: null,
      support: 'Supported',
    })
    expect((await change({ displayName: 'x', description: 'ab', bulkVideosSupportUpdate: 'yes' })).body).toMatchObject({
      'invalid-params': { description: {}, bulkVideosSupportUpdate: {} },
    })
    expect(await channelOf(`${username}_channel`)).toMatchObject({ displayName: 'Named' })
  })

  it('copies its support text to all of its videos on request, and to no other', async () => {
    const { client, username, channelId } = await newUser()
    const other = await newUser()
    const videos = await makeVideos([{}, { privacy: 3 }].map((columns) => ({ channelId, columns })))
    const foreign = await makeVideo({ query }, { channelId: other.channelId, columns: { support: 'Theirs' } })
    const supports = () => query('select support from video where id = any($1) order by id', [[...videos, foreign].map(({ id }) => id)])
    const put = (body: object) => json(client, 'PUT', `/api/v1/video-channels/${username}_channel`, body)

    await put({ support: 'Only the channel' })
    await put({ support: 'Only the channel', bulkVideosSupportUpdate: true })
    expect(await supports()).toEqual([{ support: null }, { support: null }, { support: 'Theirs' }])
    await put({ support: 'Almost everywhere', bulkVideosSupportUpdate: true })
    await put({ support: 'Everywhere', bulkVideosSupportUpdate: true })
    await until(
      async () =>
        (await query("select 1 from job where type = 'channel-support' and state in ('waiting', 'delayed', 'active')")).length === 0,
    )
    expect(await supports()).toEqual([{ support: 'Everywhere' }, { support: 'Everywhere' }, { support: 'Theirs' }])
  })

  it('is allowed for the owner and the staff, and never for a remote channel', async () => {
    const [owner, stranger, moderator] = [await newUser(), await newUser(), await newUser(1)]
    const remote = await makeRemoteChannel({ query }, { username: `far${++serial}` })
    const path = `/api/v1/video-channels/${owner.username}_channel`
    const body = { displayName: 'Changed' }
    expect((await json(stranger.client, 'PUT', path, body)).status).toBe(403)
    expect((await json(moderator.client, 'PUT', path, body)).status).toBe(204)
    const far = `/api/v1/video-channels/far${serial}_channel@${remote.host}`
    expect((await json(moderator.client, 'PUT', far, body)).status).toBe(403)
    expect((await json(moderator.client, 'DELETE', far)).status).toBe(403)
    expect((await get<ChannelView>(far)).body).toMatchObject({ isLocal: false, host: remote.host })
  })

  it('a stale remote channel is fetched once when it is viewed', async () => {
    const remote = await makeRemoteChannel({ query }, { username: `old${++serial}` })
    const requested = () =>
      query("select data from job where type = 'activitypub-refresher' and data ->> 'actorId' = $1", [String(actorId)])
    const [{ actorId } = { actorId: 0 }] = await query<{ actorId: number }>('select actor_id as "actorId" from channel where id = $1', [
      remote.channelId,
    ])
    const path = `/api/v1/video-channels/old${serial}_channel@${remote.host}`
    await query('update actor set refreshed_at = now() where id = $1', [actorId])
    expect((await get(path)).status).toBe(200)
    expect(await requested()).toEqual([])
    await query("update actor set refreshed_at = now() - interval '1 year' where id = $1", [actorId])
    expect((await get(path)).status).toBe(200)
    await until(async () => (await requested()).length === 1, { what: 'the job' })
    expect((await get(path)).status).toBe(200)
    expect(await requested()).toHaveLength(1)
  })

  it('may be a new banner, in all sizes', async () => {
    const { client, username } = await newUser()
    const path = `/api/v1/video-channels/${username}_channel/banner`
    const form = formWith('bannerfile', await plain(400, 100).png().toBuffer(), 'b.png')
    const { banners } = await client.send<{ banners: ChannelView['banners'] }>('POST', `${path}/pick`, form)
    expect(banners.map(({ width }) => width)).toEqual([1920, 600])
    expect((await fetch(`${node.base}${banners[0]?.path}`)).status).toBe(200)
    expect((await channelOf(`${username}_channel`)).banners.map(({ width }) => width)).toEqual([600, 1920])
    expect((await client.raw(path, { method: 'DELETE' })).status).toBe(204)
    expect((await channelOf(`${username}_channel`)).banners).toEqual([])
  })
})

describe('removal of a channel', () => {
  it('leaves the user one channel, also when both are removed at once', async () => {
    const { client, username } = await newUser()
    await post(client, { name: `${username}_other`, displayName: 'Other' })
    const remove = (name: string) => json(client, 'DELETE', `/api/v1/video-channels/${name}`)
    const answers = await Promise.all([remove(`${username}_channel`), remove(`${username}_other`)])
    expect(answers.map(({ status }) => status).toSorted()).toEqual([204, 409])
    const list = await get<List<ChannelView>>(`/api/v1/accounts/${username}/video-channels`)
    expect(list.body.total).toBe(1)
    expect((await post(client, { name: `${username}_again`, displayName: 'Again' })).status).toBe(200)
  })

  it('and removal of its user at the same time both complete', async () => {
    const { client, username, id, channelId } = await newUser()
    await makeVideo({ query }, { channelId })
    await post(client, { name: `${username}_stays`, displayName: 'Stays' })
    expect((await json(client, 'DELETE', `/api/v1/video-channels/${username}_channel`)).status).toBe(204)
    expect((await json(client, 'DELETE', '/api/v1/users/me')).status).toBe(204)
    await until(async () => (await query('select 1 from users where id = $1', [id])).length === 0, {
      what: 'the end of the user',
    })
    const left = await query(
      `select deleted_at is not null as gone, (select count(*)::int from channel c where c.actor_id = x.id) as channels
       from actor x where preferred_username ~ ('^' || $1 || '(_|$)')`,
      [username],
    )
    expect(left).toEqual([1, 2, 3].map(() => ({ gone: true, channels: 0 })))
  })
})

describe('lists', () => {
  it('of channels are in the requested order, are searched by words, and count all', async () => {
    const { client, username } = await newUser()
    for (const [name, displayName] of [
      [`${username}_b`, 'Bees and honey'],
      [`${username}_a`, 'Ants'],
    ]) {
      await post(client, { name, displayName })
    }
    const names = async (sort: string) =>
      (await get<List<ChannelView>>(`/api/v1/accounts/${username}/video-channels?sort=${sort}`)).body.data.map(
        ({ displayName }) => displayName,
      )
    const main = `Main ${username} channel`
    expect(await names('name')).toEqual(['Ants', 'Bees and honey', main])
    expect(await names('createdAt')).toEqual([main, 'Bees and honey', 'Ants'])
    expect(await names('-id')).toEqual(['Ants', 'Bees and honey', main])
    await json(client, 'PUT', `/api/v1/video-channels/${username}_channel`, { support: 'Newest' })
    expect((await names('-updatedAt'))[0]).toBe(main)

    const found = await get<List<ChannelView>>('/api/v1/video-channels?search=and honey')
    expect(found.body).toMatchObject({ total: 1, data: [{ name: `${username}_b` }] })
    const [counted] = await query<{ channels: number; accounts: number }>(
      `select (select count(*)::int from channel) as channels, (select count(*)::int from account) as accounts`,
    )
    const all = await get<List<ChannelView>>('/api/v1/video-channels?count=1&start=1')
    expect(all.body.total).toBe(counted?.channels)
    expect(all.body.data).toHaveLength(1)
    const accounts = await get<List<{ name: string }>>('/api/v1/accounts?count=1')
    expect(accounts.body).toMatchObject({ total: counted?.accounts, data: [{ name: username }] })
  })

  it('of followed channels are searched by words in their name or handle, without fuzzy matches', async () => {
    const reader = await newUser()
    const names = ['Gardens of Babylon', 'Garden tools', 'Guardian news']
    for (const [index, displayName] of names.entries()) {
      const maker = await newUser()
      const name = `plot${index}_${maker.username}`
      await post(maker.client, { name, displayName })
      await json(reader.client, 'POST', '/api/v1/users/me/subscriptions', { uri: `${name}@${host()}` })
    }
    const found = async (search: string) => {
      const path = `/api/v1/users/me/subscriptions?sort=createdAt&search=${encodeURIComponent(search)}`
      const { total, data } = await reader.client.get<List<ChannelView>>(path)
      expect(total).toBe(data.length)
      return data.map(({ displayName }) => names.indexOf(displayName))
    }
    expect(await found('garden')).toEqual([0, 1])
    expect(await found('Babylon GARDENS')).toEqual([0])
    expect(await found('gardens tools')).toEqual([])
    expect(await found('plot2_')).toEqual([2])
    expect(await found(`plot1_maker${serial - 1}@${host()}`)).toEqual([1])
    expect(await found(host())).toEqual([0, 1, 2])
    expect(await found('100%')).toEqual([])
    expect(await found(' ')).toEqual([0, 1, 2])
  })

  it('include the account of the instance beside those of users', async () => {
    const account = { name: 'peertube', displayName: 'peertube', host: host(), url: `${node.base}/accounts/peertube` }
    const expected = { ...account, followersCount: 0, followingCount: 0, avatars: [] }
    const { body } = await get<List<object>>('/api/v1/accounts?sort=createdAt&count=1')
    expect(body.data).toEqual([expect.objectContaining(expected)])
    expect(body.data[0]).not.toHaveProperty('userId')
    expect((await get('/api/v1/accounts/peertube')).body).toMatchObject(expected)
  })

  it('with statistics do not reveal hidden videos', async () => {
    const { client, username, channelId } = await newUser()
    const shown = await makeVideo({ query }, { channelId, columns: { views: 5 } })
    const hidden = await makeVideo({ query }, { channelId, columns: { views: 7, privacy: 3 } })
    await query("insert into video_day_views (video_id, day, views) values ($1, (now() at time zone 'UTC')::date, 2)", [shown.id])
    await query("insert into video_day_views (video_id, day, views) values ($1, (now() at time zone 'UTC')::date - 30, 3)", [hidden.id])
    await makeVideo({ query }, { channelId, columns: { views: 11, blocked: true } })
    const path = `/api/v1/accounts/${username}/video-channels?withStats=true`
    const viewed = ({ viewsPerDay }: ChannelView) => viewsPerDay?.map(({ views }) => views)
    const days = (first: number, last: number) => [first, ...Array.from({ length: 29 }, () => 0), last]

    const [seen] = (await get<List<ChannelView>>(path)).body.data
    expect(seen).toMatchObject({ videosCount: 1, totalViews: 5 })
    expect(seen && viewed(seen)).toEqual(days(0, 2))
    const [own] = (await client.get<List<ChannelView>>(path)).data
    expect(own).toMatchObject({ videosCount: 3, totalViews: 23 })
    expect(own && viewed(own)).toEqual(days(3, 2))
    expect((await get<List<ChannelView>>(path.split('?')[0] ?? '')).body.data[0]?.videosCount).toBeUndefined()
  })

  it('of followers are visible to their target; those of an account also name its channels', async () => {
    const [owner, fan, friend] = [await newUser(), await newUser(), await newUser()]
    await fan.client.send('POST', '/api/v1/users/me/subscriptions', { uri: `${owner.username}_channel@${host()}` })
    await query("insert into follow (follower_id, target_id, state) values ($1, $2, 'accepted'), ($3, $2, 'pending')", [
      friend.actorId,
      owner.actorId,
      fan.actorId,
    ])
    const names = ({ data }: List<{ follower: { name: string } }>) => data.map(({ follower }) => follower.name)
    const followers = `/api/v1/accounts/${owner.username}/followers`
    const all = await owner.client.get<List<{ follower: { name: string } }>>(`${followers}?sort=createdAt`)
    expect([all.total, names(all)]).toEqual([2, [fan.username, friend.username]])
    const found = await owner.client.get<List<{ follower: { name: string } }>>(`${followers}?search=${friend.username}`)
    expect([found.total, names(found)]).toEqual([1, [friend.username]])
    const ofChannel = await owner.client.get<List<{ follower: { name: string } }>>(
      `/api/v1/video-channels/${owner.username}_channel/followers`,
    )
    expect([ofChannel.total, names(ofChannel)]).toEqual([1, [fan.username]])
    expect((await fan.client.raw(followers)).status).toBe(403)
  })

  it('of ratings leave out videos that their owner or the staff hid since, and contain the rated videos', async () => {
    const [fan, owner] = [await newUser(), await newUser()]
    const videos = await makeVideos([1, 2, 3, 4].map(() => ({ channelId: owner.channelId })))
    for (const [index, { id }] of videos.entries()) {
      await fan.client.send('PUT', `/api/v1/videos/${id}/rate`, { rating: index === 1 ? 'dislike' : 'like' })
    }
    await query('update video set privacy = 3 where id = $1', [videos[2]?.id])
    await query('update video set blocked = true where id = $1', [videos[3]?.id])
    const path = `/api/v1/accounts/${fan.username}/ratings`
    const rated = async (search: string) => {
      const { total, data } = await fan.client.get<List<{ video: { id: number }; rating: string }>>(path + search)
      return { total, data: data.map(({ video, rating }) => [video.id, rating]) }
    }
    expect(await rated('?sort=createdAt')).toEqual({
      total: 2,
      data: [
        [videos[0]?.id, 'like'],
        [videos[1]?.id, 'dislike'],
      ],
    })
    expect(await rated('?rating=dislike')).toEqual({ total: 1, data: [[videos[1]?.id, 'dislike']] })
    expect(await rated('?start=5')).toEqual({ total: 2, data: [] })
  })

  it('of videos are those of the account or channel, local and remote', async () => {
    const { client, username, channelId, accountId } = await newUser()
    const remote = await makeRemoteChannel({ query }, { username: `distant${++serial}` })
    const second = await post(client, { name: `${username}_more`, displayName: 'More' })
    const [one, two] = await makeVideos([{ channelId }, { channelId: second.body.videoChannel.id }])
    await makeVideo({ query }, { channelId, columns: { privacy: 3 } })
    const far = await makeVideo({ query }, { channelId: remote.channelId, remoteOrigin: `https://${remote.host}` })
    const ids = async (path: string) => (await get<List<{ id: number; account: { id: number } }>>(path)).body.data.map(({ id }) => id)
    expect(accountId).toBeGreaterThan(0)
    expect((await ids(`/api/v1/accounts/${username}/videos`)).toSorted()).toEqual([one?.id, two?.id].toSorted())
    expect(await ids(`/api/v1/video-channels/${username}_channel/videos`)).toEqual([one?.id])
    expect(await ids(`/api/v1/accounts/distant${serial}@${remote.host}/videos`)).toEqual([far.id])
    expect(await ids(`/api/v1/video-channels/distant${serial}_channel@${remote.host}/videos`)).toEqual([far.id])
  })
})
