// The policy of the inbox: what is refused, deferred, dropped or put under review, at what cost, and what moderators see.

import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { AT_MOST_MS, startCpuTime } from '../support/cpu-time.ts'
import { type FakePeer, type JsonObject, type PeerActor, post, signedInside, startFakePeer } from '../support/fake-peer.ts'
import { peerKeys } from '../support/fast-crypto.ts'
import { media } from '../support/media.ts'
import { until } from '../support/until.ts'
import { type FederatedNode, introduce, newcomer, startFederatedNode } from './support.ts'

const REPORTS = 20
const COMMENTS = 40
const OF_A_USER = 3
const MB = 1024 * 1024

interface Decision {
  host: string
  verdict: string
  reason: string
  kind: string
  count: number
  activityId: string | null
  actor: string | null
}
type Person = { account: PeerActor; channel: PeerActor }

let local: FederatedNode
let home: FakePeer
let away: FakePeer
let alice: Person
let bob: Person
let mallory: Person
let video: { id: number; uuid: string; url: string }

beforeAll(async () => {
  const inbox = { reports_per_host: REPORTS, comments_per_host: COMMENTS }
  const config = { vireo: { federation: { inbox }, abuses: { reports_per_user: OF_A_USER } } }
  ;[local, home, away] = await Promise.all([startFederatedNode(config), startFakePeer(), startFakePeer()])
  for (const peer of [home, away]) await local.deliver(peer.instance, peer.activity(peer.instance, 'Arrive', peer.instance.url))
  alice = await introduce(local, home, 'alice')
  mallory = await introduce(local, home, 'mallory')
  bob = await introduce(local, away, 'bob')
  video = await local.upload(await readFile(await media('small.mp4')))
})
afterAll(async () => {
  await Promise.all([home?.close(), away?.close(), local?.stop()])
})

const listed = async (query = '') =>
  await local.client.get<{ total: number; data: Decision[] }>(`/api/v1/vireo/inbound-decisions?count=100${query}`)
const decision = async (reason: string, host: string) => (await listed(`&reason=${reason}`)).data.find((one) => one.host === host)
const comment = (by: PeerActor, peer: FakePeer, inReplyTo = video.url) =>
  peer.activity(by, 'Create', peer.note({ author: by.url, inReplyTo, content: 'Well said' }))
const isStored = async ({ object }: JsonObject) =>
  (await local.query('select 1 from comment where url = $1', [(object as { id: string }).id])).length === 1
const flag = (by: PeerActor, peer: FakePeer, object: unknown, content = 'Bad') => peer.activity(by, 'Flag', object, { content })
const reports = (of: FakePeer) =>
  local.query<{ reason: string; state: string }>(
    `select r.reason, r.state from abuse r join remote_host h on h.id = r.reporter_host_id where h.host = $1 order by r.id`,
    [of.host],
  )
/** The peers share a few keys. */
const wrongKeyOf = async ({ keys }: PeerActor): Promise<PeerActor['keys']> => {
  const other = await peerKeys()
  return other.rsa.publicPem === keys.rsa.publicPem ? await peerKeys() : other
}
const server = '/api/v1/server/blocklist'

describe('reports of abuse', () => {
  it('of the same object by the same person are merged until one is decided', async () => {
    const reporter = await home.account('reporter')
    for (const content of ['One', 'Two', 'Three']) await local.deliver(reporter, flag(reporter, home, video.url, content))
    await local.deliver(alice.account, flag(alice.account, home, video.url, 'Me too'))
    expect((await reports(home)).map(({ reason }) => reason)).toEqual(['One', 'Me too'])
    expect(await decision('reported_already', home.host)).toMatchObject({ verdict: 'drop', kind: 'Flag', count: 2 })
    const [first] = (await local.client.get<{ data: { id: number }[] }>('/api/v1/abuses?sort=id')).data
    await local.client.send('PUT', `/api/v1/abuses/${first?.id}`, { state: 3 })
    await local.deliver(reporter, flag(reporter, home, video.url, 'Again'))
    expect((await reports(home)).map(({ reason }) => reason)).toEqual(['One', 'Me too', 'Again'])
  })

  it('by an instance come from many people, and each is stored', async () => {
    for (const content of ['Of one', 'Of another']) {
      await local.deliver(away.instance, flag(away.instance, away, video.url, content))
    }
    expect((await reports(away)).map(({ reason }) => reason)).toEqual(['Of one', 'Of another'])
    await local.query('delete from abuse')
  })

  it('are limited per host and hour: a thousand reports affect no other host', async () => {
    const answers: number[] = []
    const [before = 0] = [(await decision('too_many_reports', home.host))?.count]
    let next = 0
    const flood = Array.from({ length: 8 }, async () => {
      while (next < 1000) {
        next += 1
        answers.push((await post(local, mallory.account, flag(mallory.account, home, `${local.base}/${next}`))).status)
      }
    })
    await until(async () => answers.length > 100, { what: 'the middle of the flood' })
    const began = Date.now()
    const said = comment(bob.account, away)
    const others = [
      await post(local, bob.account, flag(bob.account, away, video.url, 'Honest')),
      await post(local, bob.account, said),
      // Not a report, from the same host.
      await post(local, alice.account, home.activity(alice.account, 'Like', video.url)),
    ]
    expect(others.map(({ status }) => status)).toEqual([204, 204, 204])
    await until(async () => (await isStored(said)) && (await reports(away)).length === 1, { what: 'what others said' })
    const took = Date.now() - began
    await Promise.all(flood)

    expect(took).toBeLessThan(5000)
    // A 429 for an hour would stop all other activities of its server too.
    expect(answers.filter((status) => status !== 204)).toEqual([])
    const [taken] = await local.query<{ n: number }>(
      "select count(*)::int as n from incoming_activity where type = 'Flag' and actor_url = $1",
      [mallory.account.url],
    )
    expect(taken?.n).toBeLessThanOrEqual(REPORTS)
    const noted = await decision('too_many_reports', home.host)
    expect(noted).toMatchObject({ verdict: 'drop', kind: 'Flag', actor: mallory.account.url })
    expect(noted?.count).toBe(before + 1000 - (taken?.n ?? 0))
    expect((await local.query("select 1 from inbound_decision where reason = 'too_many_reports'")).length).toBe(1)
  })

  it('of a local user are limited per hour too; other users and moderators are not affected', async () => {
    const [carol, dave] = [await newcomer(local, 'carol'), await newcomer(local, 'dave')]
    const body = { reason: 'Nothing but trouble', video: { id: video.id } }
    const status = async (by: typeof carol) => {
      const answer = await by.raw('/api/v1/abuses', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      return { status: answer.status, retryAfter: answer.headers.get('retry-after') }
    }
    const answers = await Promise.all(Array.from({ length: OF_A_USER + 3 }, () => status(carol)))
    expect(answers.filter((one) => one.status === 200)).toHaveLength(OF_A_USER)
    const late = answers.filter((one) => one.status === 429)
    expect(late).toHaveLength(3)
    for (const { retryAfter } of late) expect(Number(retryAfter)).toBeGreaterThan(3500)
    expect(await status(dave)).toEqual({ status: 200, retryAfter: null })
    for (let n = 0; n <= OF_A_USER; n += 1) await local.client.send('POST', '/api/v1/abuses', body)
  })
})

describe('a limit per host', () => {
  it('applies to one host and one kind of activity', async () => {
    const answers: number[] = []
    for (let n = 0; n < COMMENTS + 5; n += 1) {
      answers.push((await post(local, alice.account, comment(alice.account, home))).status)
    }
    expect(answers.filter((status) => status === 429).length).toBeGreaterThanOrEqual(5)
    expect((await post(local, alice.account, home.activity(alice.account, 'Follow', local.instance))).status).toBe(204)
    const said = comment(bob.account, away)
    await local.deliver(bob.account, said)
    expect(await isStored(said)).toBe(true)
    expect(await decision('too_many_comments', home.host)).toMatchObject({ verdict: 'later', kind: 'Create Note' })
  })
})

describe('a comment of a megabyte', () => {
  const large = (by: Person, peer: FakePeer, more: JsonObject) =>
    JSON.stringify(peer.activity(by.account, 'Create', peer.note({ author: by.account.url, inReplyTo: video.url, more })))

  it.each<[string, JsonObject]>([
    ['of text', { content: 'x'.repeat(MB - 4000) }],
    ['of markup', { content: '<a><b>'.repeat((MB - 4000) / 6) }],
    ['of quotes', { content: '\\"'.repeat((MB - 4000) / 4) }],
    ['with as much beside it', { content: 'Hello', tag: Array(2_000).fill({ type: 'Mention', href: 'x', name: 'y'.repeat(460) }) }],
  ])('%s costs little', async (_what, more) => {
    const body = large(bob, away, more)
    expect(body.length).toBeGreaterThan(0.9 * MB)
    const digest = `SHA-256=${createHash('sha256').update(body).digest('base64')}`
    const costs: number[] = []
    for (let n = 0; n < 6; n += 1) {
      const spent = startCpuTime()
      const { status } = await post(local, bob.account, body, { digest })
      costs.push(spent())
      expect(status).toBe(413)
    }
    // This process is also the sender.
    expect(Math.min(...costs)).toBeLessThan(AT_MOST_MS)
  })

  it('is logged without a host, since no host is proven to have sent it', async () => {
    expect(await decision('comment_too_large', '')).toMatchObject({ verdict: 'refuse', actor: bob.account.url })
    expect(await decision('comment_too_large', away.host)).toBeUndefined()
  })

  it('that is as long as markup may be is accepted, and truncated', async () => {
    const said = comment(bob.account, away)
    Object.assign(said.object as JsonObject, { content: 'é'.repeat(60_000) })
    await local.deliver(bob.account, said)
    const [stored] = await local.query<{ text: string }>('select text from comment where url = $1', [(said.object as { id: string }).id])
    expect(stored?.text).toHaveLength(10_000)
  })
})

describe('a blocked host or actor', () => {
  it('is refused before its signature is checked, and logged', async () => {
    await local.client.send('POST', `${server}/servers`, { host: home.host })
    const create = comment(mallory.account, home)
    const wrong = await wrongKeyOf(mallory.account)
    expect((await post(local, mallory.account, create)).status).toBe(403)
    expect((await post(local, mallory.account, create, { key: wrong })).status).toBe(403)
    const unknown = { key: wrong, keyId: `${home.base}/nobody#main-key` }
    expect((await post(local, mallory.account, create, unknown)).status).toBe(403)
    expect((await post(local, mallory.account, create, { keyId: `acct:nobody@${home.host}` })).status).toBe(403)
    // Forwarded by a server that is not to blame.
    expect((await post(local, bob.account, await signedInside(create, mallory.account))).status).toBe(204)
    const noted = (await listed(`&host=${home.host}&reason=blocked_server`)).data
    expect(noted).toEqual([
      expect.objectContaining({
        kind: 'Create Note',
        count: 5,
        verdict: 'drop',
        activityId: create.id,
        actor: mallory.account.url,
      }),
    ])
    await local.settled()
    expect(await isStored(create)).toBe(false)
    await local.client.send('DELETE', `${server}/servers/${home.host}`)
  })

  it('cannot be announced by others: an Announce of its videos is dropped', async () => {
    const document = home.video({ ...mallory })
    await local.deliver(mallory.account, home.activity(mallory.account, 'Create', document))
    await local.client.send('POST', `${server}/accounts`, { accountName: `mallory@${home.host}` })
    const shares = () => local.query('select 1 from share s join video v on v.id = s.video_id where v.url = $1', [document.id])
    await local.deliver(bob.channel, away.activity(bob.channel, 'Announce', document.id))
    expect(await shares()).toEqual([])
    expect(await decision('about_blocked_actor', away.host)).toMatchObject({ verdict: 'drop', kind: 'Announce' })
    await local.client.send('DELETE', `${server}/accounts/mallory@${home.host}`)
    await local.deliver(bob.channel, away.activity(bob.channel, 'Announce', document.id))
    expect(await shares()).toHaveLength(1)
  })
})

describe('moderators', () => {
  it('see pending and tagged comments, and forged senders', async () => {
    const pending = await local.upload(await readFile(await media('small.mp4')), { commentsPolicy: '3' })
    await local.deliver(bob.account, comment(bob.account, away, pending.url))
    expect(await decision('needs_approval', away.host)).toMatchObject({
      verdict: 'hold',
      kind: 'Create Note',
      count: 1,
    })
    const noted = comment(bob.account, away)
    Object.assign(noted.object as JsonObject, { content: 'See https://third.example/' })
    await local.deliver(bob.account, noted)
    expect(await decision('tagged', away.host)).toMatchObject({ verdict: 'tag', activityId: noted.id })
    await local.client.send('PUT', '/api/v1/automatic-tags/policies/accounts/root/comments', {
      review: ['external-link'],
    })
    const watched = comment(bob.account, away)
    Object.assign(watched.object as JsonObject, { content: 'See https://third.example/' })
    await local.deliver(bob.account, watched)
    expect(await decision('held_by_tags', away.host)).toMatchObject({ verdict: 'hold', activityId: watched.id })
    const lie = comment(bob.account, away)
    // A key older than a minute would be fetched again.
    await local.query('update actor set refreshed_at = now() where url = $1', [bob.account.url])
    expect((await post(local, bob.account, lie, { key: await wrongKeyOf(bob.account) })).status).toBe(401)
    expect(await decision('unproven_sender', '')).toMatchObject({ verdict: 'refuse', activityId: lie.id })
  })

  it('filter decisions by server, reason and verdict, in any order, for a month', async () => {
    const { total, data } = await listed('&verdict=hold')
    expect([total, data.map(({ verdict }) => verdict)]).toEqual([2, ['hold', 'hold']])
    expect((await listed(`&host=${away.host.toUpperCase()}`)).data.every(({ host }) => host === away.host)).toBe(true)
    const counts = (await listed('&sort=-count')).data.map(({ count }) => count)
    expect(counts).toEqual([...counts].sort((a, b) => b - a))
    expect((await listed('&start=1')).data).toHaveLength((await listed()).total - 1)
    await local.query("update inbound_decision set last_at = now() - interval '31 days' where reason = 'unproven_sender'")
    await local.node.restart()
    await until(async () => (await listed('&reason=unproven_sender')).total === 0, { what: 'the end of old decisions' })
    expect((await listed('&verdict=hold')).total).toBe(2)
  })
})
