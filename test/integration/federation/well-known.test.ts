import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { JsonObject } from '../../../src/federation/wire/index.ts'
import { recordedObject } from '../../unit/federation/recordings.ts'
import { ORIGIN, type ReadServer, startReadServer } from './read-server.ts'

let server: ReadServer
beforeAll(async () => {
  server = await startReadServer({ instance: { name: 'A node', short_description: 'about it' } })
})
afterAll(() => server.stop())

const get = (url: string, headers: Record<string, string> = {}) => server.app.inject({ url, headers })
const finger = (resource: string) => get(`/.well-known/webfinger?resource=${encodeURIComponent(resource)}`)

describe('WebFinger', () => {
  it('has the recorded answer for an account', async () => {
    const answer = await finger('acct:obj_user@peer.example')
    expect(answer.statusCode).toBe(200)
    expect(answer.headers['content-type']).toBe('application/jrd+json; charset=utf-8')
    const { subject, aliases, links } = answer.json<{ subject: string; aliases: string[]; links: JsonObject[] }>()
    const recorded = recordedObject('webfinger-account')
    expect({ subject, aliases }).toEqual({ subject: recorded.subject, aliases: recorded.aliases })
    for (const link of recorded.links as JsonObject[]) expect(links).toContainEqual(link)
  })

  it.each([
    ['acct:obj_user_channel@peer.example', '/video-channels/obj_user_channel'],
    ['acct:peertube@peer.example', '/accounts/peertube'],
    ['acct:OBJ_USER@PEER.example', '/accounts/obj_user'],
    ['ACCT:obj_user@peer.example', '/accounts/obj_user'],
    ['acct:@obj_user@peer.example', '/accounts/obj_user'],
    ['acct%3Aobj_user%40peer.example', '/accounts/obj_user'],
    [`${ORIGIN}/accounts/obj_user`, '/accounts/obj_user'],
    [`${ORIGIN}/accounts/obj_user/`, '/accounts/obj_user'],
    [`${ORIGIN}/accounts/OBJ_user`, '/accounts/obj_user'],
    [`${ORIGIN}/a/obj_user`, '/accounts/obj_user'],
    [`${ORIGIN}/@obj_user`, '/accounts/obj_user'],
    [`${ORIGIN}/c/obj_user_channel/videos`, '/video-channels/obj_user_channel'],
    [encodeURIComponent(`${ORIGIN}/video-channels/obj_user_channel`), '/video-channels/obj_user_channel'],
  ])('finds %s', async (resource, path) => {
    const answer = await finger(resource)
    expect(answer.statusCode).toBe(200)
    const { subject, aliases, links } = answer.json<{ subject: string; aliases: string[]; links: JsonObject[] }>()
    expect(links).toContainEqual({ rel: 'self', type: 'application/activity+json', href: ORIGIN + path })
    // Names are returned in their stored case, and every alias can be looked up.
    expect(subject).toBe(`acct:${path.split('/').at(-1)}@peer.example`)
    for (const alias of [subject, ...aliases]) expect((await finger(alias)).json()).toEqual(answer.json())
  })

  it.each([
    'https://other.example/accounts/obj_user',
    'obj_user@peer.example',
    '@obj_user@peer.example',
    'acct:obj_user',
    'acct:obj_user@other.example',
    'acct:obj_user@peer.example.evil',
    'acct:obj_user@peer.example:444',
    'mailto:obj_user@peer.example',
    "acct:' or 1=1 --@peer.example",
    'acct:obj_user\u0000@peer.example',
  ])('refuses %s, which is no handle of this host', async (resource) => {
    const answer = await finger(resource)
    const detail = 'Incorrect request parameters: resource'
    expect([answer.statusCode, answer.headers['content-type']]).toEqual([400, 'application/problem+json; charset=utf-8'])
    expect(answer.json()).toEqual({
      type: 'about:blank',
      title: 'Bad Request',
      detail,
      status: 400,
      error: detail,
      instance: expect.stringContaining('/.well-known/webfinger?resource='),
      'invalid-params': {
        resource: { type: 'field', value: resource, msg: 'Invalid value', path: 'resource', location: 'query' },
      },
    })
  })

  it.each([`${ORIGIN}/accounts/nobody`, `${ORIGIN}/videos/watch/${crypto.randomUUID()}`])('knows no actor at %s', async (resource) => {
    expect((await finger(resource)).statusCode).toBe(404)
  })

  it('has the recorded answer for an unknown actor', async () => {
    const detail = 'Actor not found'
    expect((await finger('acct:nobody@peer.example')).json()).toEqual({
      type: 'about:blank',
      title: 'Not Found',
      detail,
      status: 404,
      error: detail,
    })
  })

  it.each(['', '?resource=', '?resource=nonsense', '?rel=self'])('refuses the query "%s"', async (query) => {
    const answer = await get(`/.well-known/webfinger${query}`)
    expect(answer.statusCode).toBe(400)
    expect(answer.json()).toMatchObject({ 'invalid-params': { resource: { location: 'query' } } })
  })

  it('ignores the Accept header', async () => {
    for (const accept of ['application/jrd+json', 'text/html', '*/*', 'application/activity+json']) {
      const answer = await get('/.well-known/webfinger?resource=acct:peertube@peer.example', { accept })
      expect([accept, answer.statusCode]).toEqual([accept, 200])
    }
  })
})

describe('host-meta', () => {
  it('is as recorded', async () => {
    const answer = await get('/.well-known/host-meta')
    expect(answer.headers['content-type']).toBe('application/xml; charset=utf-8')
    expect(answer.body).toBe(recordedObject('document-well-known-host-meta'))
  })
})

describe('NodeInfo', () => {
  it('links the documents and the instance actor', async () => {
    const answer = await get('/.well-known/nodeinfo')
    const { links } = answer.json<{ links: JsonObject[] }>()
    for (const link of recordedObject('document-well-known-nodeinfo').links as JsonObject[]) {
      expect(links).toContainEqual(link)
    }
    for (const { href } of links) {
      const path = String(href).slice(ORIGIN.length)
      expect((await get(path, { accept: 'application/activity+json' })).statusCode).toBe(200)
    }
  })

  it('has the recorded members, with the same types', async () => {
    const answer = await get('/nodeinfo/2.0.json')
    expect(answer.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8; profile="http://nodeinfo.diaspora.software/ns/schema/2.0#"',
      'cache-control': 'max-age=600',
    })
    expect(shapeOf(answer.json())).toEqual(shapeOf(recordedObject('document-nodeinfo-2-0-json')))
    expect(answer.json()).toMatchObject({
      software: { name: 'vireo', version: '1.2.3' },
      usage: { users: { total: 2 } },
      metadata: { nodeName: 'A node', nodeDescription: 'about it' },
    })
  })

  it('counts users, active ones, local videos and local comments', async () => {
    const { db, insert, user, clock } = server
    const uuid = crypto.randomUUID()
    const video = await insert('video', {
      uuid,
      channel_id: user.channelId,
      url: `${ORIGIN}/videos/watch/${uuid}`,
      name: 'one',
      privacy: 1,
      state: 'published',
    })
    await insert('comment', { video_id: video, account_id: user.accountId, url: `${ORIGIN}/c/1`, text: 'here' })
    await db.query('update users set last_login_at = $1 where id = $2', [clock.now(), user.id])
    clock.pass(600_000)
    expect((await get('/nodeinfo/2.1')).json()).toMatchObject({
      version: '2.1',
      software: { repository: 'https://code.example' },
      usage: { users: { total: 2, activeMonth: 1, activeHalfyear: 1 }, localPosts: 1, localComments: 1 },
    })
  })

  it.each(['2.1.json', '3.0', '2.0.xml'])('has no document %s', async (version) => {
    const answer = await get(`/nodeinfo/${version}`)
    const detail = 'Nodeinfo schema version not handled'
    expect(answer.headers['cache-control']).toBe('no-cache, no-store, must-revalidate')
    expect(answer.json()).toEqual({
      type: 'about:blank',
      title: 'Not Found',
      detail,
      status: 404,
      error: detail,
    })
  })
})

/** Types of the values, with the keys of objects in order. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return 'list'
  if (typeof value !== 'object' || value === null) return typeof value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => a.localeCompare(b))
      .map(([key, inner]) => [key, shapeOf(inner)]),
  )
}
