// The inbox: which signatures and senders it accepts, what it fetches for them, and its bounds.

import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { startCpuTime } from '../support/cpu-time.ts'
import { longestTurnOf, MAX_TURN_MS } from '../support/event-loop-turns.ts'
import {
  type FakePeer,
  type JsonObject,
  type PeerActor,
  type PostOptions,
  post,
  signedInside,
  startFakePeer,
} from '../support/fake-peer.ts'
import { peerKeys } from '../support/fast-crypto.ts'
import {
  disguisedRings,
  longNames,
  manyStatements,
  nestedContexts,
  ringOfBlankIds,
  scopedContext,
  withinBounds,
  wronglySigned,
} from '../support/hostile-documents.ts'
import { media } from '../support/media.ts'
import { until } from '../support/until.ts'
import { type FederatedNode, introduce, startFederatedNode } from './support.ts'

const MINUTE = 60_000
/** Number of embedded signatures that are checked for one host per minute. */
const PROOFS = 40

let node: FederatedNode
let home: FakePeer
let away: FakePeer
let alice: PeerActor
let bob: PeerActor
let video: { url: string; uuid: string }
let serial = 0

beforeAll(async () => {
  ;[node, home, away] = await Promise.all([
    startFederatedNode({ vireo: { federation: { inbox: { proofs_per_host: PROOFS } } } }),
    startFakePeer(),
    startFakePeer(),
  ])
  alice = (await introduce(node, home, 'alice')).account
  await node.deliver(home.instance, home.activity(home.instance, 'Arrive', home.instance.url))
  bob = (await introduce(node, away, 'bob')).account
  video = await node.upload(await readFile(await media('small.mp4')))
})
afterAll(async () => {
  await Promise.all([home?.close(), away?.close(), node?.stop()])
})
beforeEach(() => {
  home.fetched.length = 0
  away.fetched.length = 0
})

const comment = (by: PeerActor, peer: FakePeer, content?: string) =>
  peer.activity(by, 'Create', peer.note({ author: by.url, inReplyTo: video.url, content: content ?? `Comment ${++serial}` }))
const idOf = ({ object }: JsonObject) => (object as { id: string }).id
/** Whether the comment was stored, once all activities are processed. */
const isThere = async (activity: JsonObject) => {
  await node.settled()
  return (await node.query('select 1 from comment where url = $1', [idOf(activity)])).length
}
/** Sets the time at which the node last fetched an actor. */
const age = (actor: PeerActor, ms: number) =>
  node.query('update actor set refreshed_at = $2 where url = $1', [actor.url, new Date(Date.now() - ms)])

describe('a signature', () => {
  const good: [string, () => PostOptions][] = [
    ['as usual', () => ({})],
    ['by RFC 9421', () => ({ profile: 'rfc9421' })],
    ['that covers another header too', () => ({ more: { 'collection-synchronization': 'digest="00"' } })],
    ['by RFC 9421 that covers another header', () => ({ profile: 'rfc9421', more: { 'x-other': 'a' } })],
    ['that names hs2019', () => ({ algorithm: 'hs2019' })],
    ['with a key id without fragment', () => ({ keyId: alice.url })],
    ['29 minutes old', () => ({ date: new Date(Date.now() - 29 * MINUTE) })],
    ['29 minutes ahead', () => ({ date: new Date(Date.now() + 29 * MINUTE) })],
    ['by RFC 9421, 29 minutes old', () => ({ profile: 'rfc9421', date: new Date(Date.now() - 29 * MINUTE) })],
    ['under application/json', () => ({ contentType: 'application/json' })],
    ['under application/ld+json', () => ({ contentType: 'application/ld+json; profile="https://www.w3.org/ns/activitystreams"' })],
    ['to the inbox of the instance', () => ({ inbox: '/accounts/peertube/inbox' })],
    ['to the inbox of an account', () => ({ inbox: '/accounts/root/inbox' })],
    ['to the inbox of a channel', () => ({ inbox: '/video-channels/root_channel/inbox' })],
  ]
  it.each(good)('%s is accepted', async (_what, options) => {
    const activity = comment(alice, home)
    expect(await post(node, alice, activity, options())).toEqual({ status: 204, body: '' })
    expect(await isThere(activity)).toBe(1)
  })

  const wrongDigest = `SHA-256=${createHash('sha256').update('something else').digest('base64')}`
  const bad: [string, number, () => PostOptions | Promise<PostOptions>][] = [
    ['that is not there', 401, () => ({ signer: null })],
    ['that is not there, without a date', 401, () => ({ signer: null, without: ['date'] })],
    ['by another key', 401, async () => ({ key: await otherKeys(alice) })],
    ['by another key, by RFC 9421', 401, async () => ({ key: await otherKeys(alice), profile: 'rfc9421' })],
    ['over other bytes', 401, () => ({ sentBody: '{"type":"Create","id":"http://x.example/1","actor":"http://x.example/a"}' })],
    ['with a digest of something else', 401, () => ({ digest: wrongDigest })],
    ['without a digest', 401, () => ({ covered: ['(request-target)', 'host', 'date'], without: ['digest'] })],
    ['that does not cover the digest', 401, () => ({ covered: ['(request-target)', 'host', 'date'] })],
    ['that does not cover the host', 401, () => ({ covered: ['(request-target)', 'date', 'digest'] })],
    ['that does not cover the target', 401, () => ({ covered: ['host', 'date', 'digest'] })],
    ['that does not cover the date', 401, () => ({ covered: ['(request-target)', 'host', 'digest'] })],
    ['31 minutes old', 401, () => ({ date: new Date(Date.now() - 31 * MINUTE) })],
    ['31 minutes ahead', 401, () => ({ date: new Date(Date.now() + 31 * MINUTE) })],
    ['by RFC 9421, 31 minutes old', 401, () => ({ profile: 'rfc9421', date: new Date(Date.now() - 31 * MINUTE) })],
    ['for another inbox', 401, () => ({ covered: ['(request-target)', 'host', 'date', 'digest'], algorithm: 'rsa-sha512' })],
    ['of an actor of another server', 403, () => ({ signer: bob })],
    ['with a key id of another actor', 403, () => ({ signer: bob, keyId: bob.keyId })],
    ['with a key id that is no address', 401, () => ({ keyId: 'mailto:alice@example.com' })],
  ]
  it.each(bad)('%s is refused with %i and has no effect', async (_what, status, options) => {
    const activity = comment(alice, home)
    const answer = await post(node, alice, activity, await options())
    expect(answer.status).toBe(status)
    expect(JSON.parse(answer.body)).toMatchObject({ status })
    expect(await isThere(activity)).toBe(0)
    expect(home.fetched).toEqual([])
  })

  it('that is replayed has one effect', async () => {
    const activity = { ...home.activity(alice, 'Like', video.url) }
    const date = new Date()
    await node.deliver(alice, activity, { date })
    await node.deliver(alice, home.activity(alice, 'Undo', activity))
    const ratings = () => node.query('select 1 from rating r join video v on v.id = r.video_id where v.url = $1', [video.url])
    expect(await ratings()).toHaveLength(0)
    await node.deliver(alice, activity, { date })
    expect(await ratings()).toHaveLength(0)
    const note = comment(alice, home)
    for (let time = 0; time < 3; time += 1) await node.deliver(alice, note)
    expect(await isThere(note)).toBe(1)
  })

  it('of a repeated activity counts again: like, undo, like again with the same id', async () => {
    const like = home.activity(alice, 'Like', video.url, { id: `${alice.url}/likes/7` })
    const undo = home.activity(alice, 'Undo', like, { id: `${alice.url}/likes/7/undo` })
    const ratings = () => node.query('select 1 from rating where url = $1', [like.id])
    for (const step of [like, undo, like, undo, like]) {
      await node.deliver(alice, await signedInside(step, alice))
      expect(await ratings()).toHaveLength(step === like ? 1 : 0)
    }
  })
})

const otherKeys = async (actor: PeerActor) => {
  for (;;) {
    const keys = await peerKeys()
    if (keys !== actor.keys) return keys
  }
}

describe('an unknown key', () => {
  it('is fetched once, after the response, and the activity is processed', async () => {
    const newcomer = await home.account('newcomer')
    const activity = comment(newcomer, home)
    expect((await post(node, newcomer, activity)).status).toBe(204)
    expect(await isThere(activity)).toBe(1)
    expect(home.fetched).toEqual([new URL(newcomer.url).pathname])
  })

  it.each([
    ['further headers', { covered: ['(request-target)', 'host', 'date', 'digest', 'user-agent', 'accept'] }],
    ['in another header', { inAuthorization: true }],
  ])('is enough for a first activity that is signed with %s', async (what, options) => {
    const newcomer = await home.account(`first_${what.replaceAll(' ', '_')}`)
    const activity = comment(newcomer, home)
    await node.deliver(newcomer, activity, { more: { 'user-agent': 'Elsewhere/1.0', accept: '*/*' }, ...options })
    expect(await isThere(activity)).toBe(1)
  })

  it('named by a stranger does not delay a known actor', async () => {
    home.serve('/users/hanging', () => ({ status: 503 }))
    const forged = comment(alice, home)
    const answer = await post(node, alice, forged, { keyId: `${home.base}/users/hanging#main-key` })
    expect(answer.status).toBe(204)
    const activity = comment(alice, home)
    expect((await post(node, alice, activity)).status).toBe(204)
    await until(async () => (await isThere(activity)) === 1, { what: 'what she said', withinMs: 5000 })
    await node.query("delete from incoming_activity where state = 'unverified'")
  })
  it.each(['cavage', 'rfc9421'] as const)('of a signature over additional headers is checked over all of them (%s)', async (profile) => {
    const mastodon = await home.account(`covering-${profile}`)
    const activity = comment(mastodon, home)
    const more = { 'collection-synchronization': 'collectionId="x"', 'content-type': 'application/activity+json' }
    expect((await post(node, mastodon, activity, { profile, more })).status).toBe(204)
    expect(await isThere(activity)).toBe(1)
  })

  it('of an activity signed by another actor is not fetched', async () => {
    const stranger = await away.account('stranger')
    const answer = await post(node, alice, comment(alice, home), { signer: stranger })
    expect(answer.status).toBe(401)
    expect(away.fetched).toEqual([])
  })

  it('that does not match is a forgery', async () => {
    const forged = await home.account('forged')
    const activity = comment(forged, home)
    await node.deliver(forged, activity, { key: await otherKeys(forged) })
    expect(await isThere(activity)).toBe(0)
    // The true activity with the same id is not blocked.
    await node.deliver(forged, activity)
    expect(await isThere(activity)).toBe(1)
  })

  it('of an earlier forgery does not block the true activity with its id', async () => {
    const late = await home.account('late')
    home.serve(late.url, () => ({ status: 503 }))
    const activity = comment(late, home)
    const forged = { ...activity, object: { ...(activity.object as JsonObject), content: 'Forged' } }
    expect((await post(node, late, forged, { key: await otherKeys(late) })).status).toBe(204)
    expect((await post(node, late, activity)).status).toBe(204)
    await node.settled()
    const waiting = await node.query<{ body: string }>(
      "select body from incoming_activity where actor_url = $1 and state = 'unverified' order by id",
      [late.url],
    )
    expect(waiting.map(({ body }) => JSON.parse(body))).toEqual([forged, activity])
    await node.query('delete from incoming_activity where actor_url = $1', [late.url])
  })

  it('of a flood by one actor is fetched once a minute, whether it is available or not', async () => {
    for (const [name, status] of [
      ['there', 200],
      ['missing', 404],
      ['gone', 410],
    ] as const) {
      const actor = await home.account(`flood-${name}`)
      if (status !== 200) home.serve(actor.url, () => ({ status }))
      home.fetched.length = 0
      const answers = await Promise.all(
        Array.from({ length: 50 }, async () => post(node, actor, comment(actor, home), { key: await otherKeys(actor) })),
      )
      expect(new Set(answers.map((answer) => answer.status)).size).toBeGreaterThan(0)
      await node.settled()
      expect({ name, fetched: home.fetched }).toEqual({ name, fetched: [new URL(actor.url).pathname] })
    }
  })

  it('of an unreachable server is fetched once a minute, and the activities wait', async () => {
    const actor = await home.account('flood-away')
    home.serve(actor.url, () => ({ status: 503 }))
    const activities = Array.from({ length: 20 }, () => comment(actor, home))
    for (const activity of activities) expect((await post(node, actor, activity)).status).toBe(204)
    const waiting = () =>
      node.query<{ due: boolean }>("select due_at > now() as due from incoming_activity where actor_url = $1 and state = 'unverified'", [
        actor.url,
      ])
    await until(async () => (await waiting()).filter((one) => one.due).length === 20)
    expect(home.fetched).toEqual([new URL(actor.url).pathname])
    await node.query('delete from incoming_activity where actor_url = $1', [actor.url])
  })

  it('of many actors of one server: only as many wait as configured, the others get a 429', async () => {
    const keys = await peerKeys()
    home.serve('/users/slow', () => ({ status: 503 }))
    const actors = Array.from({ length: 110 }, (_, n): PeerActor => {
      const url = `${home.base}/users/${n}`
      home.serve(url, () => ({ status: 503 }))
      return { url, keyId: `${url}#main-key`, keys, document: {} }
    })
    const statuses = []
    for (const actor of actors) statuses.push((await post(node, actor, comment(actor, home))).status)
    expect(statuses.filter((status) => status === 204)).toHaveLength(100)
    expect(statuses.filter((status) => status === 429)).toHaveLength(10)
    expect(home.fetched.length).toBeLessThanOrEqual(100)
    // Another server is not affected.
    const other = await away.account('unhindered')
    const activity = comment(other, away)
    expect((await post(node, other, activity)).status).toBe(204)
    await until(async () => (await node.query('select 1 from comment where url = $1', [idOf(activity)])).length === 1)
    await node.query("delete from incoming_activity where state = 'unverified'")
  })
})

describe('a replaced key', () => {
  it('is fetched again when the stored one is a minute old, and only then', async () => {
    const rotating = await home.account('rotating')
    await node.deliver(rotating, home.activity(rotating, 'Arrive', rotating.url))
    const keys = await otherKeys(rotating)
    home.serve(rotating.url, {
      ...rotating.document,
      publicKey: { id: rotating.keyId, owner: rotating.url, publicKeyPem: keys.rsa.publicPem },
    })
    home.fetched.length = 0
    expect((await post(node, rotating, comment(rotating, home), { key: keys })).status).toBe(401)
    expect(home.fetched).toEqual([])

    await age(rotating, 61_000)
    const activities = Array.from({ length: 5 }, () => comment(rotating, home))
    for (const activity of activities) expect((await post(node, rotating, activity, { key: keys })).status).toBe(204)
    for (const activity of activities) expect(await isThere(activity)).toBe(1)
    expect(home.fetched).toEqual([new URL(rotating.url).pathname])
    expect((await post(node, rotating, comment(rotating, home))).status).toBe(401)
  })
})

describe('a forwarded activity', () => {
  const signed = async (by: PeerActor, peer: FakePeer, content?: string) => {
    const activity = comment(by, peer, content)
    return await signedInside(activity, by)
  }

  it('is accepted with the embedded signature of its author', async () => {
    const activity = await signed(bob, away)
    await node.deliver(alice, activity)
    expect(await isThere(activity)).toBe(1)
    expect(away.fetched).toEqual([])
  })

  it('is accepted even if neither actor is known yet', async () => {
    const author = await away.account('unknown-author')
    const activity = await signed(author, away)
    await node.deliver(alice, activity)
    expect(await isThere(activity)).toBe(1)
  })

  const altered: [string, (activity: JsonObject) => JsonObject][] = [
    ['one word', (activity) => ({ ...activity, object: { ...(activity.object as JsonObject), content: 'Ill said' } })],
    ['the addressees', (activity) => ({ ...activity, to: [] })],
    ['the type', (activity) => ({ ...activity, type: 'Update' })],
    ['the id', (activity) => ({ ...activity, id: `${activity.id}2` })],
    ['the actor', (activity) => ({ ...activity, actor: alice.url })],
    ['the signature', (activity) => ({ ...activity, signature: { ...(activity.signature as JsonObject), signatureValue: 'AAAA' } })],
    ['nothing, but without the signature', ({ signature: _signature, ...activity }) => activity],
  ]
  it.each(altered)('is refused when %s was changed', async (_what, alter) => {
    const activity = alter(await signed(bob, away))
    const { status } = await post(node, home.instance, activity)
    expect([204, 401, 403]).toContain(status)
    expect(await isThere(activity)).toBe(0)
  })
})

describe('an embedded signature', () => {
  const signed = (more: JsonObject = {}) => signedInside({ ...comment(alice, home), ...more }, alice)
  const byBob = () => ({ actor: bob.url, creator: bob.keyId })

  it('that was received before is not checked again', async () => {
    const activity = await signed()
    await node.deliver(bob, activity)
    const worn = { ...activity, signature: { ...(activity.signature as JsonObject), signatureValue: 'AAAA' } }
    const { status } = await post(node, bob, worn)
    expect(status).toBe(204)
    expect(await node.query('select 1 from incoming_activity where activity_id = $1', [activity.id])).toHaveLength(1)
  })

  it('on a very long document is refused before canonicalisation, and does not count as a forgery', async () => {
    const long = await signed({ summary: 'x'.repeat(250_000) })
    expect((await post(node, bob, long)).status).toBe(413)
    expect(await isThere(long)).toBe(0)
  })

  const costly: [string, () => JsonObject[]][] = [
    [
      'with a key of this server, and a context of 2,000 terms on 1,000 nodes',
      () => [scopedContext({ actor: bob.url, creator: `${node.instance}#main-key` })],
    ],
    ['with a term that has a context of its own', () => [scopedContext(byBob())]],
    ['with contexts inside', () => [nestedContexts(byBob())]],
    ['with a ring of 3,000 blank ids', () => [ringOfBlankIds(byBob())]],
    ['with rings whose blank ids are disguised', () => disguisedRings(byBob())],
    ['with 8,000 statements', () => [manyStatements(byBob())]],
    ['with names that prefixes make long', () => longNames(byBob())],
  ]
  it.each(costly)('that is expensive to canonicalise is refused before that: %s', async (_what, make) => {
    for (const document of make()) {
      const longest = await longestTurnOf(async () => {
        const { status, body } = await post(node, alice, document, { signer: null })
        expect([status, body]).toEqual([401, expect.stringContaining('document: unverifiable')])
      })
      expect(longest).toBeLessThan(MAX_TURN_MS)
    }
  })

  it('that is expensive within all bounds is checked outside the event loop', async () => {
    for (const document of withinBounds(byBob())) {
      const longest = await longestTurnOf(async () => {
        expect((await post(node, alice, document, { signer: null })).status).toBe(401)
      })
      expect(longest).toBeLessThan(MAX_TURN_MS)
    }
  })

  it('that is wrong is limited per minute and address, also when all come at once', async () => {
    const wrong = Array.from({ length: 110 }, () => wronglySigned(byBob()))
    const answers = await Promise.all(wrong.map((document) => post(node, alice, document, { signer: null })))
    const [checked, refused] = [401, 429].map((code) => answers.filter(({ status }) => status === code).length)
    expect(checked).toBeLessThanOrEqual(PROOFS)
    expect(checked).toBeGreaterThan(0)
    expect(refused).toBe(110 - (checked ?? 0))
  })

  it('is limited per minute and server, and other servers are not affected', async () => {
    const items = await Promise.all(Array.from({ length: PROOFS + 5 }, () => signed()))
    const collection = {
      '@context': 'https://www.w3.org/ns/activitystreams',
      type: 'OrderedCollection',
      orderedItems: items,
    }
    const { status } = await post(node, bob, JSON.stringify(collection))
    expect(status).toBe(429)
    await node.settled()
    const taken = async () =>
      (await node.query('select 1 from incoming_activity where activity_id = any($1)', [items.map(({ id }) => id)])).length
    const first = await taken()
    expect(first).toBeLessThanOrEqual(PROOFS)
    expect(first).toBeGreaterThanOrEqual(PROOFS - 2)
    const other = await signed()
    await node.deliver(home.instance, other)
    expect(await isThere(other)).toBe(1)
    // A forwarder with an unknown key gets no exception, and its activities are not stored.
    const unknown = await home.account('passes-on')
    const more = await Promise.all(Array.from({ length: PROOFS + 5 }, () => signed()))
    expect((await post(node, unknown, JSON.stringify({ ...collection, orderedItems: more }))).status).toBe(429)
    expect(
      await node.query('select 1 from incoming_activity where proof is not null and activity_id = any($1)', [more.map(({ id }) => id)]),
    ).toEqual([])
    // An activity by its own actor needs no embedded signature.
    const own = comment(bob, away)
    await node.deliver(bob, own)
    expect(await isThere(own)).toBe(1)
  })
})

describe('an irrelevant activity', () => {
  it('such as a Delete of an unknown, deleted actor is accepted silently, and fetched no second time', async () => {
    const gone = await home.account('gone')
    home.serve(gone.url, () => ({ status: 410 }))
    const before = await node.world()
    await node.deliver(gone, home.activity(gone, 'Delete', gone.url))
    expect(await node.world()).toEqual(before)
    expect(await node.query('select 1 from incoming_activity where actor_url = $1', [gone.url])).toEqual([])
    expect(home.fetched).toEqual([])
    expect((await post(node, gone, home.activity(gone, 'Delete', gone.url), { signer: null })).status).toBe(204)
  })

  it.each([404, 410])('of an actor whose key is answered with %i is dropped, and fetched no second time', async (status) => {
    const gone = await home.account(`gone_${status}`)
    home.serve(gone.url, () => ({ status }))
    for (let time = 0; time < 3; time += 1) await node.deliver(gone, home.activity(gone, 'Like', video.url))
    expect(await node.query('select 1 from incoming_activity where actor_url = $1', [gone.url])).toEqual([])
    expect(home.fetched).toEqual([new URL(gone.url).pathname])
  })

  it('of unknown type is accepted silently', async () => {
    const before = await node.world()
    for (const type of ['Arrive', 'Add', 'Move', 'Block', 'QuoteRequest', 'toString', '__proto__']) {
      await node.deliver(alice, home.activity(alice, type, video.url))
    }
    for (const object of [
      { type: 'Article', id: home.id() },
      { type: 'Page', id: home.id() },
      { type: 'CacheFile', id: home.id() },
    ]) {
      await node.deliver(alice, home.activity(alice, 'Create', object))
    }
    expect(await node.world()).toEqual(before)
    expect(await node.query("select type, error from incoming_activity where state <> 'done'")).toEqual([])
  })

  it('in a bare collection is checked by its own actor', async () => {
    const [mine, remote, forwarded] = [comment(alice, home), comment(bob, away), await signedInside(comment(bob, away), bob)]
    const collection = {
      '@context': 'https://www.w3.org/ns/activitystreams',
      type: 'OrderedCollection',
      id: home.id(),
      orderedItems: [mine, remote, forwarded, 'not an activity', 7, null],
    }
    await post(node, alice, collection)
    expect([await isThere(mine), await isThere(remote), await isThere(forwarded)]).toEqual([1, 0, 1])
  })

  it('to an unknown inbox is answered with 404', async () => {
    for (const inbox of ['/accounts/nobody_here/inbox', '/video-channels/nobody_here/inbox']) {
      const activity = comment(alice, home)
      const answer = await post(node, alice, activity, { inbox })
      expect({ inbox, status: answer.status }).toEqual({ inbox, status: 404 })
      expect(await isThere(activity)).toBe(0)
    }
  })

  it('in the name of a local actor is refused', async () => {
    const activity = { ...comment(alice, home), actor: `${node.base}/accounts/root`, id: `${node.base}/x/1` }
    expect((await post(node, alice, activity)).status).toBe(403)
  })
})

describe('a hostile body', () => {
  const bodies: [string, number, () => string | Buffer][] = [
    ['of 2 MB', 413, () => JSON.stringify({ ...comment(alice, home), padding: 'x'.repeat(2_000_000) })],
    ['with 60,000 keys', 400, () => `{${Array.from({ length: 60_000 }, (_, n) => `"k${n}":1`).join(',')}}`],
    ['of 50 levels', 400, () => `${'{"a":'.repeat(50)}1${'}'.repeat(50)}`],
    ['of 200,000 levels', 400, () => '['.repeat(200_000)],
    ['with a key twice', 400, () => JSON.stringify(comment(alice, home)).replace('{', '{"type":"Delete",')],
    ['with __proto__', 400, () => JSON.stringify(comment(alice, home)).replace('{', '{"__proto__":{"type":"Delete"},')],
    ['with an escaped __proto__', 400, () => JSON.stringify(comment(alice, home)).replace('{', '{"\\u005f_proto__":{},')],
    ['with constructor', 400, () => JSON.stringify(comment(alice, home)).replace('{', '{"constructor":{},')],
    ['that is no UTF-8', 400, () => Buffer.concat([Buffer.from('{"type":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')])],
    ['that is empty', 400, () => ''],
    ['that is cut off', 400, () => JSON.stringify(comment(alice, home)).slice(0, -10)],
    ['that is a list', 400, () => '[]'],
    ['that is a number', 400, () => '1'],
    ['that is null', 400, () => 'null'],
    ['that is an empty object', 400, () => '{}'],
  ]
  it.each(bodies)('%s is refused with %i at once', async (_what, status, make) => {
    const sentBody = make()
    const spent = startCpuTime()
    const answer = await post(node, alice, sentBody.toString(), { sentBody })
    expect(spent()).toBeLessThan(1000)
    expect(answer.status).toBe(status)
  })

  it('with NUL, quotes and markup in its texts is stored as text or refused, and never parked', async () => {
    for (const content of ['a\u0000b', `'; drop table video; --`, '%_%', '\u202eright to left', '<a'.repeat(30_000), '\ud800 lone']) {
      const activity = comment(alice, home, content)
      const { status } = await post(node, alice, activity)
      expect([204, 400]).toContain(status)
      await node.settled()
    }
    const named = await home.account('named')
    home.serve(named.url, { ...named.document, name: `'; drop table actor; --`, summary: 'a\u0000b' })
    const odd = comment(named, home)
    await node.deliver(named, odd)
    expect(await isThere(odd)).toBe(1)
    for (const id of [`${home.base}/x/\u0000`, `${home.base}/x/%00`, `${home.base}/x/'"`]) {
      await post(node, alice, { ...comment(alice, home), id })
    }
    await node.settled()
    expect(await node.query("select error from incoming_activity where state <> 'done'")).toEqual([])
  })
})

describe('an activity without effect', () => {
  it('such as a Delete of an unknown actor is accepted, not stored, and nothing is fetched', async () => {
    const stranger = await away.account('never_seen')
    const activity = away.activity(stranger, 'Delete', stranger.url)
    expect(await post(node, stranger, activity)).toEqual({ status: 204, body: '' })
    expect(await node.query('select 1 from incoming_activity where activity_id = $1', [activity.id])).toEqual([])
    expect(away.fetched).toEqual([])
  })

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'text/html'])(
    'such as a signed %s is refused with 415',
    async (contentType) => {
      const activity = comment(alice, home)
      expect((await post(node, alice, activity, { contentType })).status).toBe(415)
      expect(await isThere(activity)).toBe(0)
    },
  )
})

describe('strangers', () => {
  it('with unavailable keys do not delay others', async () => {
    const silent = await startSilentServer()
    try {
      const strangers = Array.from({ length: 30 }, (_, n) => ({ ...alice, url: `${silent.base}/accounts/s${n}` }))
      for (const stranger of strangers) {
        const activity = { ...home.activity(stranger, 'Like', video.url), id: `${stranger.url}/likes/1` }
        const { status } = await post(node, stranger, activity, { keyId: `${stranger.url}#main-key` })
        expect(status).toBe(204)
      }
      const activity = comment(alice, home)
      expect((await post(node, alice, activity)).status).toBe(204)
      await until(async () => (await node.query('select 1 from comment where url = $1', [idOf(activity)])).length === 1, {
        what: 'the comment of somebody known',
        withinMs: 4000,
      })
    } finally {
      await silent.close()
      await node.query("delete from incoming_activity where state = 'unverified'")
    }
  })
})

/** Accepts connections and never answers. */
async function startSilentServer(): Promise<{ base: string; close(): Promise<void> }> {
  const server = createServer(() => undefined)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return {
    base: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
