// Videos that change their owner: who may offer, accept and refuse them, what moves with them, and which servers are notified.

import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import type { Client } from '../../scripts/demo/client.ts'
import { type FakePeer, type JsonObject, startFakePeer } from '../support/fake-peer.ts'
import { media } from '../support/media.ts'
import { until } from '../support/until.ts'
import { type FederatedNode, introduce, newcomer, startFederatedNode, uploadBy } from './support.ts'

let node: FederatedNode
/** Follows the giver's account and channel, and no other local actor. */
let near: FakePeer
let bytes: Buffer
let giver: Client
let taker: Client
let channelId: number

const channelOf = async (client: Client): Promise<number> => {
  const me = await client.get<{ videoChannels: { id: number }[] }>('/api/v1/users/me')
  return me.videoChannels[0]?.id ?? 0
}

beforeAll(async () => {
  ;[node, near] = await Promise.all([startFederatedNode(), startFakePeer()])
  bytes = await readFile(await media('small.mp4'))
  giver = await newcomer(node, 'giver')
  taker = await newcomer(node, 'taker')
  channelId = await channelOf(taker)
  const { account } = await introduce(node, near, 'nora')
  for (const path of ['/accounts/giver', '/video-channels/giver_channel']) {
    await node.deliver(account, near.activity(account, 'Follow', node.base + path))
  }
  await near.awaited('the answers', () => near.of('Accept').length === 2)
})
afterAll(async () => {
  await Promise.all([near?.close(), node?.stop()])
})
beforeEach(() => {
  near.received.length = 0
})

interface Offers {
  total: number
  data: { id: number; status: string; video: { uuid: string; account: { name: string } } }[]
}
const offersTo = (client: Client) => client.get<Offers>('/api/v1/videos/ownership?sort=-createdAt&count=100')
const give = (uuid: string, username = 'taker', by = giver) => by.send('POST', `/api/v1/videos/${uuid}/give-ownership`, { username })
async function offered(fields: Record<string, string> = {}, username = 'taker', to = taker) {
  const video = await uploadBy(giver, bytes, fields)
  await give(video.uuid, username)
  const found = (await offersTo(to)).data.find((one) => one.video.uuid === video.uuid)
  return { ...video, offer: found?.id ?? 0 }
}
async function decide(by: Client, offer: number, verdict: 'accept' | 'refuse', body: object = { channelId }) {
  const answer = await by.raw(`/api/v1/videos/ownership/${offer}/${verdict}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const text = await answer.text()
  const problem = text === '' ? {} : (JSON.parse(text) as { code?: string })
  return problem.code === undefined ? answer.status : `${answer.status} ${problem.code}`
}
const ownerOf = async (id: number): Promise<string | undefined> => {
  const [row] = await node.query<{ name: string }>(
    `select x.preferred_username as name from video v join channel c on c.id = v.channel_id
     join account a on a.id = c.account_id join actor x on x.id = a.actor_id where v.id = $1`,
    [id],
  )
  return row?.name
}
const quotaUsed = async (client: Client): Promise<number> =>
  (await client.get<{ videoQuotaUsed: number }>('/api/v1/users/me/video-quota-used')).videoQuotaUsed
const objectOf = ({ object }: JsonObject) => (typeof object === 'string' ? object : (object as JsonObject).id)

describe('an offered video', () => {
  it('moves with its files, comments and ratings to the channel that its new owner names', async () => {
    const { uuid, id, offer } = await offered()
    await giver.send('POST', `/api/v1/videos/${uuid}/comment-threads`, { text: 'A comment' })
    const before = await giver.get<{ files: { fileUrl: string }[] }>(`/api/v1/videos/${uuid}`)
    const used = [await quotaUsed(giver), await quotaUsed(taker)]
    expect(await decide(taker, offer, 'accept')).toBe(204)
    const after = await taker.get<object>(`/api/v1/videos/${uuid}`)
    expect(after).toMatchObject({
      files: before.files,
      account: { name: 'taker' },
      channel: { name: 'taker_channel' },
    })
    const url = before.files[0]?.fileUrl ?? ''
    expect((await fetch(url)).status).toBe(200)
    const size = (used[0] ?? 0) - (await quotaUsed(giver))
    expect(size).toBe(bytes.length)
    expect(await quotaUsed(taker)).toBe((used[1] ?? 0) + size)
    const mine = (client: Client) => client.get<{ data: { id: number }[] }>('/api/v1/users/me/videos?count=100')
    expect((await mine(giver)).data.map((video) => video.id)).not.toContain(id)
    expect((await mine(taker)).data.map((video) => video.id)).toContain(id)
    const refused = await giver.raw(`/api/v1/videos/${uuid}`, { method: 'DELETE' })
    expect(refused.status).toBe(403)
    await taker.send('DELETE', `/api/v1/videos/${uuid}`)
  })

  it('stays with its owner when it is refused, and is decided once', async () => {
    const { id, offer } = await offered()
    expect(await decide(giver, offer, 'refuse')).toBe(403)
    expect(await decide(taker, offer, 'refuse')).toBe(204)
    expect(await ownerOf(id)).toBe('giver')
    expect(await decide(taker, offer, 'accept')).toBe(403)
    expect(await decide(taker, offer, 'refuse')).toBe(403)
    expect((await offersTo(taker)).data.find((one) => one.id === offer)?.status).toBe('REFUSED')
  })

  it('is one offer when it is offered twice, and a new one after a refusal', async () => {
    const { uuid, offer } = await offered()
    await give(uuid)
    const all = async () => (await offersTo(taker)).data.filter((one) => one.video.uuid === uuid)
    expect(await all()).toHaveLength(1)
    await decide(taker, offer, 'refuse')
    await give(uuid)
    expect((await all()).map(({ status }) => status)).toEqual(['WAITING', 'REFUSED'])
  })

  it('goes to one of two, also when both accept at once', async () => {
    const second = await newcomer(node, 'second')
    const { id, uuid, offer } = await offered()
    await give(uuid, 'second')
    const other = (await offersTo(second)).data[0]?.id ?? 0
    const answers = await Promise.all([
      decide(taker, offer, 'accept'),
      decide(second, other, 'accept', { channelId: await channelOf(second) }),
    ])
    expect(answers.toSorted()).toEqual([204, 403])
    expect(await ownerOf(id)).toBe(answers[0] === 204 ? 'taker' : 'second')
  })

  it('cannot be accepted by an earlier offer, once it belongs to somebody else', async () => {
    const third = await newcomer(node, 'third')
    const { id, uuid, offer } = await offered()
    await give(uuid, 'third')
    const stale = (await offersTo(third)).data[0]?.id ?? 0
    await decide(taker, offer, 'accept')
    expect(await decide(third, stale, 'accept', { channelId: await channelOf(third) })).toBe(403)
    expect(await ownerOf(id)).toBe('taker')
    // Not even when the giver has it back.
    await give(uuid, 'giver', taker)
    const back = (await offersTo(giver)).data[0]?.id ?? 0
    expect(await decide(giver, back, 'accept', { channelId: await channelOf(giver) })).toBe(204)
    expect(await decide(third, stale, 'accept', { channelId: await channelOf(third) })).toBe(403)
    // Offered again, it is a new offer.
    await give(uuid, 'third')
    await decide(third, stale, 'accept', { channelId: await channelOf(third) })
    expect(await ownerOf(id)).toBe('third')
    await give(uuid, 'taker', third)
    await decide(taker, (await offersTo(taker)).data[0]?.id ?? 0, 'accept')
    // A video of another user shows nothing once its new owner hides it.
    expect((await offersTo(third)).total).toBe(1)
    await taker.send('PUT', `/api/v1/videos/${uuid}`, { privacy: 3, name: 'A secret name' })
    expect(await offersTo(third)).toEqual({ total: 0, data: [] })
  })

  it('that is private is visible to its next owner, while it is offered', async () => {
    const { uuid, offer } = await offered({ privacy: '3' })
    expect(offer).toBeGreaterThan(0)
    await decide(taker, offer, 'refuse')
    expect((await offersTo(taker)).data.map(({ video }) => video.uuid)).not.toContain(uuid)
  })

  it('needs free quota of its new owner', async () => {
    const poor = await newcomer(node, 'poor', { videoQuota: Math.floor(bytes.length * 1.5) })
    const [first, second] = [await offered({}, 'poor', poor), await offered({}, 'poor', poor)]
    const body = { channelId: await channelOf(poor) }
    const answers = await Promise.all([decide(poor, first.offer, 'accept', body), decide(poor, second.offer, 'accept', body)])
    expect(answers.map(String).toSorted()).toEqual(['204', '413 quota_reached'])
    expect([await ownerOf(first.id), await ownerOf(second.id)].toSorted()).toEqual(['giver', 'poor'])
  })

  it('cannot go into a channel of somebody else', async () => {
    const { id, offer } = await offered()
    for (const body of [{}, { channelId: await channelOf(giver) }, { channelId: 424_242 }]) {
      expect(await decide(taker, offer, 'accept', body)).toBe(400)
    }
    expect(await ownerOf(id)).toBe('giver')
    expect((await offersTo(taker)).data.find((one) => one.id === offer)?.status).toBe('WAITING')
  })

  it('can be offered by the administrator for its owner, but not to its owner, nobody, or a remote account', async () => {
    const { id, uuid } = await uploadBy(giver, bytes)
    for (const name of ['giver', 'nobody', `nora@${near.host}`]) {
      await expect(give(uuid, name)).rejects.toThrow(/^400/)
    }
    await expect(give(uuid, 'taker', taker)).rejects.toThrow(/^403/)
    await give(uuid, 'taker', node.client)
    const offer = (await offersTo(taker)).data.find((one) => one.video.uuid === uuid)?.id ?? 0
    expect(await decide(taker, offer, 'accept')).toBe(204)
    expect(await ownerOf(id)).toBe('taker')
  })

  it('is gone with the video', async () => {
    const { uuid, offer } = await offered()
    await giver.send('DELETE', `/api/v1/videos/${uuid}`)
    expect((await offersTo(taker)).data.map((one) => one.id)).not.toContain(offer)
    expect(await decide(taker, offer, 'accept')).toBe(404)
    expect(await decide(taker, offer, 'refuse')).toBe(404)
  })
})

describe('an offer ends with the account', () => {
  const idOf = async (username: string): Promise<number> => {
    const [user] = await node.query<{ id: number }>('select id from users where username = $1', [username])
    return user?.id ?? 0
  }
  const gone = async (username: string) => {
    const id = await idOf(username)
    await node.client.send('DELETE', `/api/v1/users/${id}`)
    const rows = () => node.query('select 1 from users where id = $1', [id])
    await until(async () => (await rows()).length === 0, { what: `the end of ${username}` })
  }

  it('of the recipient, and the video stays where it is', async () => {
    const leaver = await newcomer(node, 'leaver')
    const { id, offer } = await offered({}, 'leaver', leaver)
    await gone('leaver')
    expect(await node.query('select 1 from ownership_change where id = $1', [offer])).toEqual([])
    expect(await ownerOf(id)).toBe('giver')
  })

  it('of the giver, and earlier accepted videos remain', async () => {
    const leaver = await newcomer(node, 'leaving')
    const [kept, lost] = [await uploadBy(leaver, bytes), await uploadBy(leaver, bytes)]
    await give(kept.uuid, 'taker', leaver)
    await give(lost.uuid, 'taker', leaver)
    const offers = (await offersTo(taker)).data
    const offerOf = (uuid: string) => offers.find((one) => one.video.uuid === uuid)?.id ?? 0
    expect(await decide(taker, offerOf(kept.uuid), 'accept')).toBe(204)
    await gone('leaving')
    expect(await decide(taker, offerOf(lost.uuid), 'accept')).toBe(404)
    expect(await ownerOf(kept.id)).toBe('taker')
    expect((await fetch(`${node.base}/api/v1/videos/${kept.uuid}`)).status).toBe(200)
  })

  it('of a giver that is being removed, and its videos move nowhere', async () => {
    const { id, offer } = await offered()
    await node.query("update users set state = 'deleted' where username = 'giver'")
    try {
      expect(await decide(taker, offer, 'accept')).toBe(403)
    } finally {
      await node.query("update users set state = 'active' where username = 'giver'")
    }
    expect(await ownerOf(id)).toBe('giver')
  })
})

describe('servers that knew the video of the giver', () => {
  it('get an Update by the giver, and the end of one Announce and the start of another', async () => {
    const { uuid, url, offer } = await offered()
    const { account } = await introduce(node, near, 'nina')
    await node.deliver(account, near.activity(account, 'Follow', `${node.base}/video-channels/taker_channel`))
    await near.awaited('the first announce', ({ activity }) => activity.type === 'Announce' && activity.object === url)
    near.received.length = 0
    expect(await decide(taker, offer, 'accept')).toBe(204)
    const { activity: update } = await near.awaited('the update', ({ activity }) => activity.type === 'Update')
    expect(update).toMatchObject({ actor: `${node.base}/accounts/giver` })
    expect(objectOf(update)).toBe(url)
    const people = (update.object as { attributedTo: { type: string; id: string }[] }).attributedTo
    expect(people.map((one) => one.id)).toEqual([`${node.base}/accounts/taker`, `${node.base}/video-channels/taker_channel`])
    const by = (type: string, channel: string) =>
      near.awaited(
        `${type} by ${channel}`,
        ({ activity }) => activity.type === type && activity.actor === `${node.base}/video-channels/${channel}`,
      )
    expect((await by('Undo', 'giver_channel')).activity.object).toMatchObject({ type: 'Announce', object: url })
    expect((await by('Announce', 'taker_channel')).activity.object).toBe(url)
    near.received.length = 0
    // Later changes come from the new owner alone.
    await taker.send('PUT', `/api/v1/videos/${uuid}`, { name: 'Mine' })
    const later = await near.awaited('the next update', ({ activity }) => activity.type === 'Update')
    expect(later.activity.actor).toBe(`${node.base}/accounts/taker`)
  })

  it('get its Delete from an actor that they trust, in the order of the first Update', async () => {
    const { uuid, url, offer } = await offered()
    await near.awaited('the first announce', ({ activity }) => activity.type === 'Announce' && activity.object === url)
    expect(await decide(taker, offer, 'accept')).toBe(204)
    await near.awaited('the update', ({ activity }) => activity.type === 'Update' && objectOf(activity) === url)
    await taker.send('PUT', `/api/v1/videos/${uuid}`, { name: 'Mine' })
    await taker.send('DELETE', `/api/v1/videos/${uuid}`)
    const isEnd = ({ activity }: { activity: JsonObject }) => activity.type === 'Delete' && objectOf(activity) === url
    const ends = await until(
      () => {
        const found = near.received.filter(isEnd)
        return found.length === 2 ? found : undefined
      },
      { what: 'both ends' },
    )
    const [first, second] = ['giver', 'taker'].map((name) => `${node.base}/accounts/${name}`)
    expect(ends.map(({ activity }) => activity.actor)).toEqual([first, second])
    // The sender is not the author, who signed the embedded activity.
    for (const { headers, activity } of ends) {
      expect(headers.signature).toContain(`keyId="${first}#main-key"`)
      expect(activity.signature).toMatchObject({ creator: activity.actor })
    }
  })
})

it('a remote video is removed by an actor unknown as its owner, when its server no longer serves it', async () => {
  const [former, present] = [await introduce(node, near, 'former'), await introduce(node, near, 'present')]
  const document = near.video(former)
  await node.deliver(former.account, near.activity(former.account, 'Create', document))
  const isThere = async () => (await node.query('select 1 from video where url = $1', [document.id])).length === 1
  const remove = () => node.deliver(present.account, near.activity(present.account, 'Delete', document.id))
  await remove()
  expect(await isThere()).toBe(true)
  near.serve(document.id, () => ({ status: 404 }))
  await remove()
  expect(await isThere()).toBe(false)
})
