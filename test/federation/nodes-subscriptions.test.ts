// Real nodes: subscriptions of users, rejected followers, reports, and copies of videos.

import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { media } from '../support/media.ts'
import { until } from '../support/until.ts'
import { arrives, commentSeen, follow, startNodes, takeTurns, videoOn } from './nodes.ts'
import type { FederatedNode } from './support.ts'

let nodes: FederatedNode[] = []
let bytes: Buffer
beforeAll(async () => {
  bytes = await readFile(await media('small.mp4'))
  nodes = await startNodes(3)
})
afterAll(async () => {
  await Promise.all(nodes.map((node) => node.stop()))
})

interface Report {
  reason: string
  reporterAccount: { host: string }
  flaggedAccount: { host: string } | null
  comment: { text: string } | null
}
interface Mirrored {
  data: { uuid: string; redundancies: { files: { id: number; fileUrl: string; strategy: string | null }[] } }[]
}

/** The state of a follow, as a node stores it. */
const stateOn = async (node: FederatedNode, follower: string, target: string): Promise<string> =>
  (
    await node.query<{ state: string }>(
      `select f.state from follow f join actor x on x.id = f.follower_id join actor y on y.id = f.target_id
       where x.url = $1 and y.url = $2`,
      [follower, target],
    )
  )[0]?.state ?? 'none'
const becomes = async (on: FederatedNode[], follower: string, target: string, state: string) => {
  for (const node of on) {
    await until(async () => (await stateOn(node, follower, target)) === state, {
      what: `${follower} → ${target} as ${state} on ${node.base}`,
    })
  }
}

describe('from one node to another', () => {
  const pair = takeTurns(() => nodes)

  it('a user subscribes to a channel, sees its videos, unsubscribes, and subscribes again', async () => {
    const { from, to } = pair()
    const channel = `${to.base}/video-channels/root_channel`
    const subscriber = `${from.base}/accounts/root`
    const uri = `root_channel@${to.host}`
    const mine = '/api/v1/users/me/subscriptions'
    for (let round = 0; round < 2; round += 1) {
      await from.client.send('POST', mine, { uri })
      await becomes([from, to], subscriber, channel, 'accepted')
      expect(await from.client.get(`${mine}/exist?uris=${uri}`)).toEqual({ [uri]: true })
      const { uuid } = await to.upload(bytes)
      await until(
        async () => {
          const { data } = await from.client.get<{ data: { uuid: string }[] }>(`${mine}/videos`)
          return data.some((one) => one.uuid === uuid)
        },
        { what: 'the video among those of subscriptions' },
      )
      await from.client.send('DELETE', `${mine}/${uri}`)
      await becomes([from, to], subscriber, channel, 'none')
    }
  })

  it('a mute of a server rejects its followers of account and channel, and they are accepted again afterwards', async () => {
    const { from, to } = pair()
    const targets = [`${to.base}/accounts/root`, `${to.base}/video-channels/root_channel`]
    const handles = [`root@${to.host}`, `root_channel@${to.host}`]
    await follow(from, { handles })
    for (const target of targets) await becomes([from, to], from.instance, target, 'accepted')
    await to.client.send('POST', '/api/v1/users/me/blocklist/servers', { host: from.host })
    for (const target of targets) await becomes([from], from.instance, target, 'rejected')
    await to.client.send('DELETE', `/api/v1/users/me/blocklist/servers/${from.host}`)
    await from.client.send('POST', '/api/v1/server/following', { handles })
    for (const target of targets) await becomes([from, to], from.instance, target, 'accepted')
    for (const handle of handles) await from.client.send('DELETE', `/api/v1/server/following/${handle}`)
    for (const target of targets) await becomes([from, to], from.instance, target, 'none')
  })

  it('a comment and an account are reported to their server', async () => {
    const { from, to } = pair()
    const { uuid } = await to.upload(bytes)
    const { account } = (await arrives(from, uuid)) as unknown as { account: { id: number } }
    await to.client.send('POST', `/api/v1/videos/${uuid}/comment-threads`, { text: `Bad of ${to.host}` })
    const { id } = await commentSeen(from, uuid, ({ text }) => text === `Bad of ${to.host}`, 'the comment')
    await from.client.send('POST', '/api/v1/abuses', { reason: 'A bad comment', comment: { id } })
    await from.client.send('POST', '/api/v1/abuses', { reason: 'A bad account', account: { id: account.id } })
    const sent = await until(
      async () => {
        const { data } = await to.client.get<{ data: Report[] }>('/api/v1/abuses')
        const remote = data.filter((one) => one.reporterAccount.host === from.host)
        return remote.length === 2 ? remote : undefined
      },
      { what: 'the reports' },
    )
    expect(sent.toSorted((a, b) => (a.reason < b.reason ? -1 : 1))).toMatchObject([
      { reason: 'A bad account', comment: null, flaggedAccount: { host: to.host } },
      { reason: 'A bad comment', comment: { text: `Bad of ${to.host}` } },
    ])
  })

  it("a copy made by one node is listed by the video's server and nobody else, and is removed with its source", async () => {
    const { from, to, third } = pair()
    const { uuid, url } = await to.upload(bytes)
    const { id } = await arrives(from, uuid)
    await arrives(third, uuid)
    const listed = async (node: FederatedNode, target: string) =>
      (await node.client.get<Mirrored>(`/api/v1/server/redundancy/videos?target=${target}`)).data.find((one) => one.uuid === uuid)
        ?.redundancies.files
    await from.client.send('POST', '/api/v1/server/redundancy/videos', { videoId: id })
    const there = await until(async () => (await listed(to, 'my-videos'))?.[0], { what: 'the news of it' })
    expect((await fetch(there.fileUrl)).status).toBe(200)
    expect(there.fileUrl).toMatch(new RegExp(`^${from.base}/`))
    const heard = () =>
      third.query<{ type: string }>(
        `select type from incoming_activity where type in ('Create', 'Undo') and actor_url = $1 and state = 'done'
           and activity_id like $2 order by id`,
        [from.instance, `%${uuid}%`],
      )
    await until(async () => (await heard()).length === 1, { what: 'the news on the third' })
    expect(await third.query('select 1 from redundancy')).toEqual([])
    const [mine] = (await listed(from, 'remote-videos')) ?? []
    await from.client.send('DELETE', `/api/v1/server/redundancy/videos/${mine?.id}`)
    await until(async () => (await to.query('select 1 from redundancy')).length === 0, { what: 'its end' })
    await until(async () => (await heard()).length === 2, { what: 'its end on the third' })
    expect(await videoOn(third, uuid)).toMatchObject({ url })
  })
})
