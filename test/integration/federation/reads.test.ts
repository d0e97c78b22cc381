import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import type { JsonObject } from '../../../src/federation/wire/index.ts'
import { toShortUuid } from '../../../src/platform/ids.ts'
import { type MadeVideo, makeRemoteChannel, makeVideo } from '../../support/builders.ts'
import { recordedObject } from '../../unit/federation/recordings.ts'
import { ORIGIN, type ReadServer, startReadServer } from './read-server.ts'

const AP = 'application/activity+json'
const TYPE = 'application/activity+json; charset=utf-8'

let server: ReadServer
beforeAll(async () => {
  server = await startReadServer({ vireo: { federation: { collection_page_items: 2 } } })
})
afterAll(() => server.stop())
beforeEach(() => server.clock.pass(600_000))

const get = (url: string, headers: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET') =>
  server.app.inject({ method, url, headers: { accept: AP, ...headers } })

/** With the URL of a video on this node. */
async function localVideo(columns: Record<string, unknown> = {}, channelId = server.user.channelId) {
  const video = await makeVideo(server.db, { channelId, columns, passwords: columns.privacy === 5 ? ['secret'] : [] })
  const url = `${ORIGIN}/videos/watch/${video.uuid}`
  await server.db.query('update video set url = $2 where id = $1', [video.id, url])
  return { ...video, url }
}

describe('a read', () => {
  it('has the recorded headers', async () => {
    const answer = await get('/accounts/obj_user')
    expect(answer.statusCode).toBe(200)
    expect(answer.headers).toMatchObject({
      'content-type': TYPE,
      vary: 'Accept',
      'access-control-allow-origin': '*',
      tk: 'N',
      etag: expect.stringMatching(/^"[\w-]{27}"$/),
    })
    expect(answer.headers).not.toHaveProperty('cache-control')
    const video = await localVideo()
    expect((await get(`/videos/watch/${video.uuid}`)).headers['cache-control']).toBe('max-age=1')
  })

  it('answers HEAD without the body', async () => {
    const whole = await get('/accounts/obj_user')
    const head = await get('/accounts/obj_user', {}, 'HEAD')
    expect(head.statusCode).toBe(200)
    expect(head.body).toBe('')
    expect(head.headers).toMatchObject({
      'content-type': TYPE,
      etag: whole.headers.etag,
      'content-length': whole.headers['content-length'],
    })
  })

  it('is 304 for clients with this version, also with weak tags and a star', async () => {
    const etag = String((await get('/accounts/obj_user')).headers.etag)
    for (const tag of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const answer = await get('/accounts/obj_user', { 'if-none-match': tag })
      expect([tag, answer.statusCode, answer.body]).toEqual([tag, 304, ''])
    }
    expect((await get('/accounts/obj_user', { 'if-none-match': '"other"' })).statusCode).toBe(200)
  })

  it.each(['application/ld+json', 'application/ld+json; profile="https://www.w3.org/ns/activitystreams"', `${AP}, */*`])(
    'returns the document for %s',
    async (accept) => {
      expect((await get('/accounts/obj_user', { accept })).headers['content-type']).toBe(TYPE)
    },
  )

  it.each(['*/*', 'application/json', 'text/html', `text/html, ${AP}`])('leaves %s to the pages', async (accept) => {
    const video = await localVideo()
    const answer = await get(`/videos/watch/${video.uuid}`, { accept })
    expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
    expect(answer.headers.vary).toContain('Accept')
  })

  it('is case-insensitive in names', async () => {
    expect((await get('/accounts/OBJ_User')).json()).toMatchObject({ id: `${ORIGIN}/accounts/obj_user` })
  })

  it.each([
    ['/a/obj_user', '/accounts/obj_user'],
    ['/c/obj_user_channel', '/video-channels/obj_user_channel'],
  ])('of the short path %s is that of %s', async (short, long) => {
    expect((await get(short)).body).toBe((await get(long)).body)
  })

  it.each([
    ['/@obj_user', '/accounts/obj_user'],
    ['/@OBJ_User', '/accounts/obj_user'],
    ['/@obj_user@peer.example', '/accounts/obj_user'],
    ['/@obj_user_channel', '/video-channels/obj_user_channel'],
    ['/@peertube', '/accounts/peertube'],
  ])('of the handle %s is at %s', async (handle, address) => {
    const answer = await get(handle)
    expect([answer.statusCode, answer.headers.location]).toEqual([302, ORIGIN + address])
    expect(answer.headers.vary).toContain('Accept')
    expect((await get(address)).json()).toMatchObject({ id: ORIGIN + address })
  })

  it('knows a video by all of its ids', async () => {
    const { id, uuid } = await localVideo()
    const short = toShortUuid(uuid)
    const names = [`/w/${uuid}`, `/w/${short}`, `/w/${id}`, `/videos/watch/${short}`, `/videos/watch/${id}`]
    const whole = await get(`/videos/watch/${uuid}`)
    expect(whole.json()).toMatchObject({ uuid })
    for (const path of [...names, `/videos/watch/${uuid.toUpperCase()}`]) expect((await get(path)).body).toBe(whole.body)
  })

  it.each([
    ['/accounts/nobody_here', 'Account not found'],
    ['/accounts/obj_user_channel', 'Account not found'],
    ['/@nobody_here', 'Actor not found'],
    ['/@obj_user@elsewhere.example', 'Actor not found'],
    ['/video-channels/obj_user', 'Video channel not found'],
    ['/video-channels/nobody_here', 'Video channel not found'],
    ['/accounts/nobody_here/outbox', 'Account not found'],
    ['/video-channels/nobody_here/followers?page=1', 'Video channel not found'],
    ['/videos/watch/9f1ab5d5-0000-4000-8000-000000000000', 'Video not found'],
    ['/videos/watch/9f1ab5d5-0000-4000-8000-000000000000/likes', 'Video not found'],
    ['/videos/watch/424242', 'Video not found'],
    ['/videos/watch/99999999999999999999', 'Video not found'],
    ['/w/not-a-video', 'Video not found'],
    ['/w/%00', 'Video not found'],
  ])('of %s is 404 as recorded', async (path, detail) => {
    const answer = await get(path)
    expect(answer.statusCode).toBe(404)
    expect(answer.headers).toMatchObject({
      'content-type': 'application/problem+json; charset=utf-8',
      vary: 'Accept',
    })
    expect(answer.json()).toEqual({ type: 'about:blank', title: 'Not Found', detail, status: 404, error: detail })
  })

  it.each([
    '/accounts/obj_user/inbox',
    '/accounts/obj_user/liked',
    '/accounts/obj_user/outbox/activity',
    '/videos/watch/9f1ab5d5-0000-4000-8000-000000000000/comments/1/approve-reply',
    '/accounts/%E0%A4%A',
    '/accounts/a/b/c/d',
  ])('of %s is 404', async (path) => {
    expect([400, 404]).toContain((await get(path)).statusCode)
  })

  it('of a deleted actor is 410', async () => {
    const id = await server.insert('actor', {
      type: 'Person',
      preferred_username: 'gone',
      url: `${ORIGIN}/accounts/gone`,
      public_key_pem: server.pem,
      inbox_url: `${ORIGIN}/accounts/gone/inbox`,
      deleted_at: new Date(),
    })
    expect(id).toBeGreaterThan(0)
    expect((await get('/accounts/gone')).statusCode).toBe(410)
    expect((await get('/accounts/gone/outbox')).statusCode).toBe(410)
    expect((await get('/@gone')).statusCode).toBe(410)
  })

  it('does not count for the general rate limit', async () => {
    const strict = await startReadServer({ rates_limit: { activity_pub: { window: '10 seconds', max: 1 } } })
    try {
      const ask = () => strict.app.inject({ url: '/accounts/peertube', headers: { accept: AP } })
      expect([(await ask()).statusCode, (await ask()).statusCode]).toEqual([200, 429])
      expect((await strict.app.inject({ url: '/.well-known/nodeinfo' })).statusCode).toBe(200)
    } finally {
      await strict.stop()
    }
  })
})

describe('access to a video', () => {
  const PARTS = ['', '/activity', '/likes', '/dislikes', '/announces', '/comments', '/comments?page=1', '/chapters']
  const of = (uuid: string, part: string) => `/videos/watch/${uuid}${part}`

  it.each([
    [1, 200, undefined],
    [2, 200, undefined],
    [3, 401, 'unauthorized_request'],
    [4, 401, 'unauthorized_request'],
    [5, 403, 'video_requires_password'],
  ])('with privacy %i, and to all its parts: %i', async (privacy, status, code) => {
    const { uuid } = await localVideo({ privacy })
    for (const part of PARTS) {
      const answer = await get(of(uuid, part))
      expect([part, answer.statusCode]).toEqual([part, status])
      if (code !== undefined) expect(answer.json()).toMatchObject({ status, code })
    }
    expect((await get(`/w/${toShortUuid(uuid)}`)).statusCode).toBe(status)
  })

  it('that is unlisted needs its UUID', async () => {
    const { id } = await localVideo({ privacy: 2 })
    expect((await get(`/videos/watch/${id}`)).statusCode).toBe(401)
    expect((await get(`/w/${id}`)).statusCode).toBe(401)
  })

  it('ends when it is being removed', async () => {
    const { uuid } = await localVideo({ state: 'removed' })
    for (const part of PARTS) expect((await get(of(uuid, part))).statusCode).toBe(404)
  })

  it('never includes comments and ratings of private videos', async () => {
    const { id, uuid, url } = await localVideo({ privacy: 3 })
    const comment = await server.insert('comment', {
      video_id: id,
      account_id: server.user.accountId,
      url: `${url}/comments/c${id}`,
      text: 'secret',
    })
    const like = `${ORIGIN}/accounts/obj_second/likes/${id}`
    await server.insert('rating', { video_id: id, account_id: server.second.accountId, type: 'like', url: like })
    expect((await get(of(uuid, `/comments/${comment}`))).statusCode).toBe(401)
    expect((await get(`/accounts/obj_second/likes/${id}`)).statusCode).toBe(401)
  })

  it('to a remote video redirects to its origin', async () => {
    const { channelId, host } = await makeRemoteChannel(server.db)
    const video = await makeVideo(server.db, { channelId, remoteOrigin: `https://${host}` })
    for (const part of ['', '/comments', '/activity']) {
      const answer = await get(of(video.uuid, part))
      expect([answer.statusCode, answer.headers.location]).toEqual([302, video.url])
      expect(answer.headers).toMatchObject({ vary: 'Accept', 'cache-control': 'max-age=1' })
    }
  })

  it('includes local comments on remote videos', async () => {
    const { channelId, host } = await makeRemoteChannel(server.db)
    const video = await makeVideo(server.db, { channelId, remoteOrigin: `https://${host}` })
    const id = 4711
    const url = `${ORIGIN}/videos/watch/${video.uuid}/comments/${id}`
    await server.insert('comment', { id, video_id: video.id, account_id: server.user.accountId, url, text: 'hello' })
    const note = (await get(of(video.uuid, `/comments/${id}`))).json<JsonObject>()
    expect(note).toMatchObject({ type: 'Note', id: url, inReplyTo: video.url, content: '<p>hello</p>' })
    expect(note).not.toHaveProperty('replyApproval')
    const create = await get(of(video.uuid, `/comments/${id}/activity`))
    expect(create.json()).toMatchObject({ type: 'Create', id: `${url}/activity`, object: { id: url } })
  })

  it("to a remote comment redirects to its author's server", async () => {
    const { id, uuid } = await localVideo()
    const { accountId, host } = await makeRemoteChannel(server.db)
    const url = `https://${host}/notes/1`
    const comment = await server.insert('comment', { video_id: id, account_id: accountId, url, text: 'from afar' })
    const answer = await get(of(uuid, `/comments/${comment}`))
    expect([answer.statusCode, answer.headers.location]).toEqual([302, url])
  })
})

describe('collections', () => {
  const pageOf = async (path: string, page: number) => (await get(`${path}?page=${page}`)).json<JsonObject>()
  let videos: (MadeVideo & { url: string })[]

  beforeAll(async () => {
    await server.db.query('delete from video')
    videos = []
    for (const day of [1, 2, 3]) videos.push(await localVideo({ published_at: new Date(2026, 0, day) }))
    for (const columns of [{ privacy: 2 }, { privacy: 3 }, { privacy: 4 }, { privacy: 5 }, { state: 'to-transcode' }]) {
      videos.push(await localVideo(columns))
    }
    for (const { id, url } of videos) {
      for (const actorId of [server.user.channelActorId, server.instanceId]) {
        await server.insert('share', { video_id: id, actor_id: actorId, url: `${url}/announces/${actorId}` })
      }
    }
  })

  it('that are empty have no first page, and an empty one on request', async () => {
    expect((await get('/accounts/obj_user/followers')).json()).toEqual(recordedObject('account-followers'))
    expect((await get('/accounts/obj_user/followers?page=1')).json()).toEqual(recordedObject('account-followers-page-1'))
    for (const actor of ['/accounts/obj_user', '/accounts/peertube', '/video-channels/obj_user_channel']) {
      expect((await get(`${actor}/playlists`)).json()).toMatchObject({ type: 'OrderedCollection', totalItems: 0 })
      expect((await get(`${actor}/playlists?page=1`)).json()).toMatchObject({ totalItems: 0, orderedItems: [] })
    }
  })

  it('of an account: its public videos, newest first, each as the object of its Create', async () => {
    const path = '/accounts/obj_user/outbox'
    expect((await get(path)).json()).toMatchObject({
      id: `${ORIGIN}${path}`,
      type: 'OrderedCollection',
      totalItems: 3,
      first: `${ORIGIN}${path}?page=1`,
    })
    const first = await pageOf(path, 1)
    expect(first).toMatchObject({
      id: `${ORIGIN}${path}?page=1`,
      type: 'OrderedCollectionPage',
      partOf: `${ORIGIN}${path}`,
      totalItems: 3,
      next: `${ORIGIN}${path}?page=2`,
    })
    expect(first).not.toHaveProperty('prev')
    const second = await pageOf(path, 2)
    expect(second).toMatchObject({ prev: `${ORIGIN}${path}?page=1` })
    expect(second).not.toHaveProperty('next')
    const items = [...(first.orderedItems as JsonObject[]), ...(second.orderedItems as JsonObject[])]
    expect(items.map((item) => item.id)).toEqual([2, 1, 0].map((index) => `${videos[index]?.url}/activity`))
    expect(items[0]).toMatchObject({
      type: 'Create',
      actor: `${ORIGIN}/accounts/obj_user`,
      object: { type: 'Video', uuid: videos[2]?.uuid },
    })
    expect(items[0]).not.toHaveProperty('@context')
    expect(first['@context']).toContainEqual(expect.objectContaining({ Infohash: 'pt:Infohash' }))
  })

  it('of a channel and the instance: their Announces', async () => {
    for (const path of ['/video-channels/obj_user_channel', '/accounts/peertube']) {
      expect((await get(`${path}/outbox`)).json()).toMatchObject({ totalItems: 3 })
      const { orderedItems } = await pageOf(`${path}/outbox`, 1)
      expect(orderedItems).toHaveLength(2)
      expect((orderedItems as JsonObject[])[0]).toMatchObject({
        type: 'Announce',
        actor: `${ORIGIN}${path}`,
        object: videos[2]?.url,
        to: ['https://www.w3.org/ns/activitystreams#Public'],
        cc: [`${ORIGIN}/accounts/obj_user/followers`],
      })
    }
  })

  it('contain no unlisted, private, internal, protected or unfinished video', async () => {
    const shown = await Promise.all(
      ['/accounts/obj_user', '/video-channels/obj_user_channel', '/accounts/peertube'].flatMap((actor) =>
        [1, 2, 3].map(async (page) => JSON.stringify(await pageOf(`${actor}/outbox`, page))),
      ),
    )
    for (const { uuid } of videos.slice(3)) expect(shown.join()).not.toContain(uuid)
  })

  it.each(['0', 'hello', '-1', '1.5', '', '1e3', '9999999999'])('refuse the page %s', async (page) => {
    const answer = await get(`/video-channels/obj_user_channel/outbox?page=${page}`)
    expect(answer.statusCode).toBe(400)
    expect(answer.json()).toMatchObject({
      detail: 'Incorrect request parameters: page',
      'invalid-params': { page: { type: 'field', value: page, msg: 'Invalid value', path: 'page', location: 'query' } },
    })
  })

  it('are empty after the last page', async () => {
    const { orderedItems, ...page } = await pageOf('/accounts/obj_user/outbox', 3)
    expect(orderedItems).toEqual([])
    expect(page).not.toHaveProperty('next')
    expect(await pageOf('/accounts/obj_user/outbox', 999_999_999)).toMatchObject({ orderedItems: [], totalItems: 3 })
  })

  it('of followers contain accepted ones, the oldest first', async () => {
    const { insert, user, second, instanceId } = server
    const follow = (followerId: number, state: string) => ({
      follower_id: followerId,
      target_id: user.channelActorId,
      state,
    })
    await insert('follow', follow(second.actorId, 'accepted'))
    await insert('follow', follow(instanceId, 'pending'))
    await insert('follow', follow(user.actorId, 'accepted'))
    await insert('follow', follow(second.channelActorId, 'accepted'))
    const path = '/video-channels/obj_user_channel/followers'
    expect((await get(path)).json()).toMatchObject({ totalItems: 3 })
    expect(await pageOf(path, 1)).toMatchObject({
      orderedItems: [`${ORIGIN}/accounts/obj_second`, `${ORIGIN}/accounts/obj_user`],
    })
    expect(await pageOf(path, 2)).toMatchObject({ orderedItems: [`${ORIGIN}/video-channels/obj_second_channel`] })
    expect((await get('/accounts/obj_second/following')).json()).toMatchObject({ totalItems: 1 })
    expect(await pageOf('/accounts/obj_second/following', 1)).toMatchObject({
      orderedItems: [`${ORIGIN}/video-channels/obj_user_channel`],
    })
  })

  it('of a video contain its shares, ratings and comments, including deleted but no pending ones', async () => {
    const [video] = videos
    if (!video) throw new Error('no video')
    const { insert, user, second } = server
    for (const [index, more] of [{}, { deleted_at: new Date() }, { held_for_review: true }].entries()) {
      const url = `${video.url}/comments/${index + 100}`
      await insert('comment', { video_id: video.id, account_id: user.accountId, url, text: 'text', ...more })
    }
    const rate = (accountId: number, type: string) =>
      insert('rating', { video_id: video.id, account_id: accountId, type, url: `${ORIGIN}/x/${accountId}/${type}` })
    await rate(user.accountId, 'like')
    await rate(second.accountId, 'dislike')
    const at = `/videos/watch/${video.uuid}`
    expect(await pageOf(`${at}/comments`, 1)).toMatchObject({
      totalItems: 2,
      orderedItems: [`${video.url}/comments/100`, `${video.url}/comments/101`],
    })
    expect(await pageOf(`${at}/likes`, 1)).toMatchObject({ orderedItems: [`${ORIGIN}/x/${user.accountId}/like`] })
    expect(await pageOf(`${at}/dislikes`, 1)).toMatchObject({
      orderedItems: [`${ORIGIN}/x/${second.accountId}/dislike`],
    })
    expect(await pageOf(`${at}/announces`, 1)).toMatchObject({
      totalItems: 2,
      orderedItems: [user.channelActorId, server.instanceId].map((id) => `${video.url}/announces/${id}`),
    })
  })
})

describe('the cache', () => {
  it('answers a second read without the database, until the document changes', async () => {
    const { uuid, url, id } = await localVideo()
    const path = `/videos/watch/${uuid}`
    expect(await server.statements(() => get(path))).toBe(2)
    expect(await server.statements(() => get(path))).toBe(0)
    await server.db.query("update video set name = 'renamed' where id = $1", [id])
    expect((await get(path)).json()).not.toMatchObject({ name: 'renamed' })
    server.changed({ url })
    expect((await get(path)).json()).toMatchObject({ name: 'renamed' })
  })

  it('serves an unnotified change after five seconds at most', async () => {
    const { uuid, id } = await localVideo()
    await get(`/videos/watch/${uuid}`)
    await server.db.query('update video set privacy = 3 where id = $1', [id])
    server.clock.pass(5000)
    expect((await get(`/videos/watch/${uuid}`)).statusCode).toBe(401)
  })

  it('stores no errors', async () => {
    const { uuid, id } = await localVideo({ privacy: 3 })
    expect((await get(`/videos/watch/${uuid}`)).statusCode).toBe(401)
    await server.db.query('update video set privacy = 1 where id = $1', [id])
    expect((await get(`/videos/watch/${uuid}`)).statusCode).toBe(200)
  })

  it.each([
    ['/accounts/obj_user', 1],
    ['/accounts/obj_user/outbox', 2],
    ['/accounts/obj_user/outbox?page=1', 3],
    ['/video-channels/obj_user_channel/outbox?page=1', 2],
    ['/video-channels/obj_user_channel/followers?page=1', 2],
    ['/.well-known/webfinger?resource=acct:obj_user@peer.example', 2],
    ['/.well-known/nodeinfo', 0],
    ['/nodeinfo/2.0.json', 1],
  ])('%s costs at most %i statements when it is missing', async (path, most) => {
    expect(await server.statements(() => get(path))).toBeLessThanOrEqual(most)
  })
})
