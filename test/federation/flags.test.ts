// Reports between servers: remote Flags become local reports, and reports of remote objects are sent to their server.

import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { type FakePeer, type JsonObject, type PeerActor, startFakePeer } from '../support/fake-peer.ts'
import { media } from '../support/media.ts'
import { oracleProblems } from '../support/peertube-oracle.ts'
import { until } from '../support/until.ts'
import { type FederatedNode, introduce, startFederatedNode } from './support.ts'

let local: FederatedNode
let peer: FakePeer
let other: FakePeer
let alice: { account: PeerActor; channel: PeerActor }
let bob: { account: PeerActor; channel: PeerActor }
let video: { id: number; uuid: string; url: string }
let root: string

beforeAll(async () => {
  ;[local, peer, other] = await Promise.all([startFederatedNode(), startFakePeer(), startFakePeer()])
  alice = await introduce(local, peer, 'alice')
  bob = await introduce(local, other, 'bob')
  await local.deliver(peer.instance, peer.activity(peer.instance, 'Arrive', peer.instance.url))
  video = await local.upload(await readFile(await media('small.mp4')))
  root = `${local.base}/accounts/root`
})
afterAll(async () => {
  await Promise.all([peer?.close(), other?.close(), local?.stop()])
})
beforeEach(async () => {
  peer.received.length = 0
  other.received.length = 0
  await local.query('delete from abuse')
})

interface ReportView {
  id: number
  reason: string
  predefinedReasons: string[]
  state: { id: number }
  reporterAccount: { name: string; host: string }
  flaggedAccount: { name: string; host: string }
  video: { id: number; name: string; startAt: number | null; endAt: number | null; deleted: boolean } | null
  comment: { id: number; text: string; deleted: boolean } | null
}

const reports = async () => (await local.client.get<{ data: ReportView[] }>('/api/v1/abuses?sort=id')).data
const flag = (by: PeerActor, object: unknown, more: JsonObject = {}, from = peer) =>
  from.activity(by, 'Flag', object, { content: 'This is bad', ...more })
const commentOn = async (inReplyTo: string, { account } = alice, from = peer) => {
  const note = from.note({ author: account.url, inReplyTo })
  await local.deliver(account, from.activity(account, 'Create', note))
  return note.id
}
const remoteVideo = async () => {
  const document = peer.video({ ...alice })
  await local.deliver(alice.account, peer.activity(alice.account, 'Create', document))
  const [row] = await local.query<{ id: number }>('select id from video where url = $1', [document.id])
  return { url: document.id, id: row?.id ?? 0 }
}
const report = (body: object) => local.client.send<{ abuse: { id: number } }>('POST', '/api/v1/abuses', body)

describe('a Flag from another server', () => {
  it('of a video becomes a report with reasons and timestamps, as PeerTube sends it', async () => {
    const tag = [
      { type: 'Hashtag', name: 'spamOrMisleading' },
      { type: 'Hashtag', name: 'no such reason' },
    ]
    await local.deliver(alice.account, flag(alice.account, video.url, { mediaType: 'text/markdown', tag, startAt: 1, endAt: 2 }))
    expect(await reports()).toEqual([
      expect.objectContaining({
        reason: 'This is bad',
        predefinedReasons: ['spamOrMisleading'],
        state: { id: 1, label: 'Pending' },
        reporterAccount: expect.objectContaining({ name: 'alice', host: peer.host }),
        flaggedAccount: expect.objectContaining({ name: 'root', host: local.host }),
        video: expect.objectContaining({
          id: video.id,
          startAt: 1,
          endAt: 2,
          deleted: false,
          countReports: 1,
          nthReport: 1,
        }),
        comment: null,
      }),
    ])
  })

  it('of an account with its posts becomes one report each, from the instance actor and without a text', async () => {
    const remote = await commentOn(video.url)
    const document = flag(peer.instance, [root, video.url, remote, `${peer.base}/unknown`], {
      content: null,
      to: undefined,
    })
    await local.deliver(peer.instance, document)
    expect((await reports()).map((one) => [one.reason, one.video?.id, one.comment !== null, one.flaggedAccount.name])).toEqual([
      ['', undefined, false, 'root'],
      ['', video.id, false, 'root'],
      ['', undefined, true, 'alice'],
    ])
  })

  it('of a channel is a report of its account, and HTML is stored as text', async () => {
    const channel = `${local.base}/video-channels/root_channel`
    await local.deliver(
      alice.account,
      flag(alice.account, channel, { content: '<p>rude <script>x()</script></p>', mediaType: 'text/html', startAt: 3 }),
    )
    expect(await reports()).toEqual([
      expect.objectContaining({
        reason: 'rude',
        video: null,
        flaggedAccount: expect.objectContaining({ name: 'root' }),
      }),
    ])
  })

  it('has its effect once, when it is repeated or rephrased', async () => {
    const document = flag(alice.account, video.url)
    await local.deliver(alice.account, document)
    await local.deliver(alice.account, document)
    await local.deliver(alice.account, { ...document, content: 'Other words' })
    expect((await reports()).map((one) => one.reason)).toEqual(['This is bad'])
  })

  it('of unrelated objects is ignored', async () => {
    const remote = await remoteVideo()
    const theirComment = await commentOn(remote.url)
    await local.deliver(bob.account, flag(bob.account, [remote.url, theirComment, alice.account.url, `${root}x`], {}, other))
    await local.deliver(alice.account, flag(alice.account, [`${local.base}/videos/watch/nothing`, `${local.base}/`]))
    expect(await reports()).toEqual([])
  })

  it('of private videos and their comments is ignored like one of unknown objects', async () => {
    const hidden = await local.upload(await readFile(await media('small.mp4')))
    const { comment } = await local.client.send<{ comment: { url: string } }>('POST', `/api/v1/videos/${hidden.uuid}/comment-threads`, {
      text: 'Between us',
    })
    // Private, password-protected, internal.
    for (const privacy of [3, 5, 4]) {
      await local.query('update video set privacy = $2 where id = $1', [hidden.id, privacy])
      await local.deliver(alice.account, flag(alice.account, [hidden.url, comment.url]))
    }
    expect(await reports()).toEqual([])
    await local.query('update video set privacy = 2 where id = $1', [hidden.id])
    await local.deliver(alice.account, flag(alice.account, [hidden.url, comment.url]))
    expect(await reports()).toHaveLength(2)
  })

  it('cannot reuse the id of another report, and others cannot change or undo it', async () => {
    const document = flag(alice.account, video.url)
    await local.deliver(alice.account, document)
    const before = await reports()
    for (const type of ['Update', 'Delete', 'Undo']) {
      await local.deliver(bob.account, other.activity(bob.account, type, document))
      await local.deliver(bob.account, other.activity(bob.account, type, document.id))
    }
    await local.deliver(bob.account, { ...flag(bob.account, video.url, { content: 'Mine' }, other), id: document.id })
    expect(await reports()).toEqual(before)
  })

  it('stays readable when the video, the comment and the reporter are gone', async () => {
    const doomed = await local.upload(await readFile(await media('small.mp4')), { name: 'A bad one' })
    const comment = await commentOn(doomed.url, bob, other)
    const reporter = await peer.account(`reporter${Date.now()}`)
    await local.deliver(reporter, flag(reporter, [doomed.url, comment]))
    await local.deliver(bob.account, other.activity(bob.account, 'Delete', { type: 'Tombstone', id: comment }))
    await local.client.send('DELETE', `/api/v1/videos/${doomed.uuid}`)
    await local.deliver(reporter, peer.activity(reporter, 'Delete', reporter.url))
    expect(await reports()).toEqual([
      expect.objectContaining({
        video: expect.objectContaining({ id: doomed.id, name: 'A bad one', deleted: true }),
        reporterAccount: expect.objectContaining({ name: reporter.url.split('/').at(-1), host: peer.host }),
      }),
      expect.objectContaining({ comment: expect.objectContaining({ text: 'Well said', deleted: true }) }),
    ])
    const deleted = await local.client.get<{ total: number }>('/api/v1/abuses?videoIs=deleted')
    expect(deleted.total).toBe(1)
  })
})

describe('a report by a local user', () => {
  it('of a remote video is sent to its server in the form of the reference, once to the shared inbox', async () => {
    const remote = await remoteVideo()
    const { abuse } = await report({
      reason: 'my flag reason',
      predefinedReasons: ['spamOrMisleading'],
      video: { id: remote.id, startAt: 1, endAt: 2 },
    })
    const { path, activity } = await peer.awaited('the Flag', (one) => one.activity.type === 'Flag')
    expect(path).toBe('/inbox')
    const { '@context': _context, signature: _signature, proof: _proof, ...said } = activity
    expect(said).toEqual({
      to: [alice.account.url],
      cc: [],
      id: `${local.base}/admin/abuses/${abuse.id}`,
      actor: root,
      type: 'Flag',
      content: 'my flag reason',
      mediaType: 'text/markdown',
      object: remote.url,
      tag: [{ type: 'Hashtag', name: 'spamOrMisleading' }],
      startAt: 1,
      endAt: 2,
    })
    // Loopback lacks the top-level domain that the oracle requires.
    const named = JSON.parse(JSON.stringify(activity).replaceAll(/127\.0\.0\.1(:\d+)?/g, 'host.example'))
    expect(oracleProblems(named)).toEqual([])
    expect(other.received).toEqual([])
  })

  it('of a remote account, and of its comment on a local video, is sent there; messages of moderators are not', async () => {
    const comment = await commentOn(video.url)
    const [row] = await local.query<{ id: number }>('select id from comment where url = $1', [comment])
    const [account] = await local.query<{ id: number }>('select a.id from account a join actor x on x.id = a.actor_id where x.url = $1', [
      alice.account.url,
    ])
    await report({ reason: 'account flag reason', account: { id: account?.id } })
    const { abuse } = await report({ reason: 'comment flag reason', comment: { id: row?.id } })
    // The approval of the comment names it too.
    for (const object of [alice.account.url, comment]) {
      await peer.awaited('the Flag', ({ activity }) => activity.type === 'Flag' && activity.object === object)
    }
    await local.client.send('PUT', `/api/v1/abuses/${abuse.id}`, { state: 3, moderationComment: 'secret words' })
    await local.client.send('POST', `/api/v1/abuses/${abuse.id}/messages`, { message: 'other secret words' })
    await local.settled()
    expect(peer.of('Flag')).toHaveLength(2)
    expect(JSON.stringify(peer.received)).not.toContain('secret words')
  })

  it('of a local object is not sent', async () => {
    await report({ reason: 'local reason', video: { id: video.id } })
    await local.settled()
    expect([...peer.received, ...other.received]).toEqual([])
    expect(await reports()).toHaveLength(1)
  })
})

describe('two nodes', () => {
  let far: FederatedNode
  afterAll(async () => {
    await far?.stop()
  })

  it('send each other reports in both directions', async () => {
    far = await startFederatedNode()
    const there = await far.upload(await readFile(await media('small.mp4')), { name: 'A far video' })
    const pairs = [
      { from: local, at: far, video: there },
      { from: far, at: local, video },
    ]
    for (const { from, at, video: reported } of pairs) {
      await from.client.send('POST', '/api/v1/server/following', { hosts: [at.host] })
      const id = await known(from, reported.url)
      await from.client.send('POST', '/api/v1/abuses', { reason: 'Seen from afar', video: { id } })
      const [found] = await received(at)
      expect(found).toMatchObject({
        reason: 'Seen from afar',
        video: { id: reported.id },
        reporterAccount: { name: 'root', host: from.host },
      })
    }
  })
})

async function known(node: FederatedNode, url: string): Promise<number> {
  const row = await until(async () => (await node.query<{ id: number }>('select id from video where url = $1', [url]))[0], {
    what: `the video ${url}`,
  })
  return row.id
}

const received = (node: FederatedNode): Promise<ReportView[]> =>
  until(
    async () => {
      const { data } = await node.client.get<{ data: ReportView[] }>('/api/v1/abuses?search=root&sort=-id')
      return data.some((one) => one.reason === 'Seen from afar' && one.reporterAccount.host !== node.host)
        ? data.filter((one) => one.reporterAccount.host !== node.host)
        : undefined
    },
    { what: 'the report' },
  )
