// Reports of videos, comments and accounts: filters, statistics, privacy, and reports whose object is gone.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { Client } from '../../../scripts/demo/client.ts'
import { type FederatedNode, newcomer, startFederatedNode } from '../../federation/support.ts'
import { insert, type MadeVideo, makeRemoteChannel, makeVideo } from '../../support/builders.ts'
import { until } from '../../support/until.ts'

interface Abuse {
  id: number
  reason: string
  state: { id: number }
  video: Record<string, unknown> | null
  comment: Record<string, unknown> | null
  flaggedAccount: Record<string, unknown>
  reporterAccount: Record<string, unknown>
  countReportsForReporter: number
  countReportsForReportee: number
}
interface Page {
  total: number
  data: Abuse[]
}

let node: FederatedNode
let moderator: Client
let zoe: Client
let bob: Client
let video: MadeVideo
let remote: MadeVideo
let commentId: number
let accountId: number
/** By the text of their reasons. */
const ids = new Map<string, number>()

const idOf = (reason: string): number => ids.get(reason) ?? 0
async function report(by: Client, reason: string, body: object): Promise<void> {
  const { abuse } = await by.send<{ abuse: { id: number } }>('POST', '/api/v1/abuses', { reason, ...body })
  ids.set(reason, abuse.id)
}
const list = (query = '') => moderator.get<Page>(`/api/v1/abuses?sort=id&count=100&${query}`)
const found = async (query: string): Promise<string[]> => {
  const { total, data } = await list(query)
  expect(total).toBe(data.length)
  return data.map(({ reason }) => reason)
}
const one = async (reason: string): Promise<Abuse> => {
  const [abuse] = (await list(`id=${idOf(reason)}`)).data
  if (!abuse) throw new Error(`There is no report "${reason}".`)
  return abuse
}

beforeAll(async () => {
  node = await startFederatedNode()
  moderator = await newcomer(node, 'moderator', { role: 1 })
  zoe = await newcomer(node, 'zoe')
  bob = await newcomer(node, 'bob')
  await newcomer(node, 'carl')
  const [carl] = await node.query<{ id: number; channelId: number }>(
    `select a.id, c.id as "channelId" from account a join channel c on c.account_id = a.id where a.name = 'carl'`,
  )
  accountId = carl?.id ?? 0
  video = await makeVideo(node, { channelId: carl?.channelId ?? 0, columns: { name: 'the evil video', nsfw: true } })
  const far = await makeRemoteChannel(node, { host: 'far.example', username: 'fern' })
  remote = await makeVideo(node, {
    channelId: far.channelId,
    remoteOrigin: 'https://far.example',
    columns: { name: 'the far video' },
  })
  commentId = await insert(node, 'comment', {
    video_id: remote.id,
    account_id: accountId,
    text: 'rude words',
    url: 'https://here.example/comments/1',
  })

  await report(zoe, 'first of the video', {
    predefinedReasons: ['privacy'],
    video: { id: video.id, startAt: 1, endAt: 2 },
  })
  await report(bob, 'second of the video', { predefinedReasons: ['spamOrMisleading'], video: { id: video.id } })
  await report(zoe, 'of the far one', { video: { id: remote.id, startAt: 3 } })
  await report(zoe, 'of the comment', {
    predefinedReasons: ['violentOrAbusive', 'privacy'],
    comment: { id: commentId },
  })
  await report(bob, 'of the account', { account: { id: accountId } })
  await moderator.send('PUT', `/api/v1/abuses/${idOf('of the far one')}`, { state: 2, moderationComment: 'not so' })
  await moderator.send('PUT', `/api/v1/abuses/${idOf('of the account')}`, { state: 3 })
})
afterAll(() => node?.stop())

const [FIRST, SECOND, FAR] = ['first of the video', 'second of the video', 'of the far one']
const [COMMENT, ACCOUNT] = ['of the comment', 'of the account']

describe('reports', () => {
  it.each([
    ['', [FIRST, SECOND, FAR, COMMENT, ACCOUNT]],
    ['filter=video', [FIRST, SECOND, FAR]],
    ['filter=comment', [COMMENT]],
    ['filter=account', [ACCOUNT]],
    ['state=1', [FIRST, SECOND, COMMENT]],
    ['state=2', [FAR]],
    ['state=3', [ACCOUNT]],
    ['predefinedReason=privacy', [FIRST, COMMENT]],
    ['predefinedReason=violentOrRepulsive&predefinedReason=spamOrMisleading', [SECOND, COMMENT]],
    ['predefinedReason=rights', []],
    ['search=EVIL', [FIRST, SECOND]],
    ['search=zoe', [FIRST, FAR, COMMENT]],
    ['search=carl', [FIRST, SECOND, COMMENT, ACCOUNT]],
    ['search=fern_chan', [FAR]],
    ['search=100%25', []],
    ['searchReporter=bob', [SECOND, ACCOUNT]],
    ['searchReportee=carl', [FIRST, SECOND, COMMENT, ACCOUNT]],
    ['searchReportee=zoe', []],
    ['searchVideo=far', [FAR]],
    ['searchVideoChannel=main%20carl', [FIRST, SECOND]],
    ['search=carl&searchReporter=zoe&state=1', [FIRST, COMMENT]],
    ['searchReporter=zoe&searchVideo=video&searchVideoChannel=fern', [FAR]],
    ['videoIs=blacklisted', []],
    ['videoIs=deleted', []],
  ])('are found by %s', async (query, expected) => {
    expect(await found(query)).toEqual(expected)
  })

  it('are sorted in each order, page by page', async () => {
    const ordered = async (sort: string, more = '') =>
      (await moderator.get<Page>(`/api/v1/abuses?sort=${sort}&${more}`)).data.map(({ reason }) => reason)
    expect(await ordered('-id')).toEqual([ACCOUNT, COMMENT, FAR, SECOND, FIRST])
    expect(await ordered('-createdAt')).toEqual([ACCOUNT, COMMENT, FAR, SECOND, FIRST])
    expect(await ordered('createdAt', 'start=1&count=2')).toEqual([SECOND, FAR])
    expect(await ordered('state')).toEqual([FIRST, SECOND, COMMENT, FAR, ACCOUNT])
    expect(await ordered('-state', 'search=video&count=2')).toEqual([FAR, SECOND])
    expect(await ordered('id', 'search=zoe&start=1&count=1')).toEqual([FAR])
    expect(await moderator.get<Page>('/api/v1/abuses?search=zoe&start=5')).toMatchObject({ total: 3, data: [] })
  })

  it('contain the number of reports of the same video and accounts', async () => {
    expect(await one(FIRST)).toMatchObject({
      video: { countReports: 2, nthReport: 1, startAt: 1, endAt: 2, nsfw: true },
      countReportsForReporter: 3,
      countReportsForReportee: 4,
    })
    expect(await one(SECOND)).toMatchObject({
      video: { countReports: 2, nthReport: 2, startAt: null, endAt: null },
      countReportsForReporter: 2,
      countReportsForReportee: 4,
    })
    expect(await one(FAR)).toMatchObject({
      video: { countReports: 1, nthReport: 1, startAt: 3, channel: { name: 'fern_channel', isLocal: false } },
      countReportsForReporter: 3,
      countReportsForReportee: 1,
      flaggedAccount: { host: 'far.example' },
    })
    expect(await one(COMMENT)).toMatchObject({ video: null, comment: { text: 'rude words', deleted: false } })
  })

  it('are shown to their reporter, without internal notes of moderators', async () => {
    const mine = async (query = '') => {
      const page = await zoe.get<Page>(`/api/v1/users/me/abuses?sort=id&${query}`)
      return [page.total, ...page.data.map(({ reason }) => reason)]
    }
    expect(await mine()).toEqual([3, FIRST, FAR, COMMENT])
    expect(await mine('state=2')).toEqual([1, FAR])
    expect(await mine(`id=${idOf(SECOND)}`)).toEqual([0])
    expect(await mine('search=bob')).toEqual([0])
    expect(await mine('search=evil')).toEqual([1, FIRST])
    const [first] = (await zoe.get<{ data: object[] }>(`/api/v1/users/me/abuses?id=${idOf(FAR)}`)).data
    for (const name of ['moderationComment', 'reporterAccount', 'countReportsForReporter', 'countReportsForReportee']) {
      expect(first).not.toHaveProperty(name)
    }
    expect(JSON.stringify(first)).not.toContain('not so')
    expect(JSON.stringify(first)).not.toMatch(/countReports|nthReport/)
  })

  it('are discussed by the reporter and the moderators, and nobody else', async () => {
    const at = `/api/v1/abuses/${idOf(FIRST)}/messages`
    const json = (message: string) => ({
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ message }),
    })
    await zoe.send('POST', at, { message: 'Hello' })
    const { abuseMessage } = await moderator.send<{ abuseMessage: { id: number } }>('POST', at, { message: 'We look' })
    for (const init of [{}, json('Me too')]) expect((await bob.raw(at, init)).status).toBe(403)
    expect((await zoe.raw(`${at}/${abuseMessage.id}`, { method: 'DELETE' })).status).toBe(403)
    expect(await zoe.get(at)).toMatchObject({
      total: 2,
      data: [
        { message: 'Hello', byModerator: false },
        { message: 'We look', byModerator: true },
      ],
    })
    expect(await one(FIRST)).toMatchObject({ countMessages: 2 })
  })

  it.each([
    ['the moderator', () => moderator, '/api/v1/users/me/blocklist'],
    ['the instance', () => node.client, '/api/v1/server/blocklist'],
  ])('of an account that %s mutes are left out', async (_who, by, blocklist) => {
    await by().send('POST', `${blocklist}/accounts`, { accountName: 'zoe' })
    expect(await found('')).toEqual([SECOND, ACCOUNT])
    expect(await found('filter=video')).toEqual([SECOND])
    expect(await found('search=zoe')).toEqual([])
    const { total } = await node.client.get<Page>('/api/v1/abuses')
    expect(total).toBe(by() === moderator ? 5 : 2)
    expect(await zoe.get<Page>('/api/v1/users/me/abuses')).toMatchObject({ total: 3 })
    await by().send('DELETE', `${blocklist}/accounts/zoe`)
    expect(await found('')).toHaveLength(5)
  })

  it.each([
    ['the moderator', () => moderator, '/api/v1/users/me/blocklist'],
    ['the instance', () => node.client, '/api/v1/server/blocklist'],
  ])('of a server that %s mutes are left out', async (_who, by, blocklist) => {
    const [{ id } = { id: 0 }] = await node.query<{ id: number }>(
      `update abuse set reporter_host_id = h.id, reporter_id = null from remote_host h
       where h.host = 'far.example' and abuse.reason = $1 returning abuse.reporter_id as id`,
      [SECOND],
    )
    expect(id).toBeNull()
    await by().send('POST', `${blocklist}/servers`, { host: 'far.example' })
    expect(await found('')).toEqual([FIRST, FAR, COMMENT, ACCOUNT])
    expect(await found('filter=video')).toEqual([FIRST, FAR])
    await by().send('DELETE', `${blocklist}/servers/far.example`)
    expect(await found('')).toHaveLength(5)
    await node.query(
      `update abuse set reporter_host_id = null, reporter_id = (select id from account where name = 'bob') where reason = $1`,
      [SECOND],
    )
  })

  it('are readable when their object or reporter is gone', async () => {
    await moderator.send('POST', `/api/v1/videos/${video.uuid}/blacklist`, {})
    expect(await found('videoIs=blacklisted')).toEqual([FIRST, SECOND])
    expect(await one(FIRST)).toMatchObject({ video: { blacklisted: true, deleted: false } })
    await moderator.send('DELETE', `/api/v1/videos/${remote.uuid}/comments/${commentId}`)
    expect(await one(COMMENT)).toMatchObject({
      comment: { id: commentId, text: 'rude words', deleted: true, video: { id: remote.id, name: 'the far video' } },
    })
    await moderator.send('DELETE', `/api/v1/videos/${video.uuid}`)
    expect(await found('videoIs=deleted')).toEqual([FIRST, SECOND])
    expect(await found('videoIs=blacklisted')).toEqual([])
    expect(await found('searchVideo=evil')).toEqual([FIRST, SECOND])
    expect(await one(FIRST)).toMatchObject({
      state: { id: 1 },
      flaggedAccount: { name: 'carl' },
      countReportsForReportee: 4,
      video: {
        id: video.id,
        uuid: video.uuid,
        name: 'the evil video',
        nsfw: true,
        deleted: true,
        blacklisted: false,
        startAt: 1,
        endAt: 2,
        countReports: 2,
        nthReport: 1,
        channel: { name: 'carl_channel', isLocal: true },
      },
    })

    const users = await node.query<{ id: number; username: string }>('select id, username from users')
    for (const { id, username } of users) {
      if (['zoe', 'carl'].includes(username)) await node.client.send('DELETE', `/api/v1/users/${id}`)
    }
    await node.settled()
    expect(await found('searchReporter=zoe')).toEqual([FIRST, FAR, COMMENT])
    expect(await found('searchReportee=carl')).toEqual([FIRST, SECOND, COMMENT, ACCOUNT])
    expect(await one(COMMENT)).toMatchObject({
      reporterAccount: { name: 'zoe', host: node.host },
      flaggedAccount: { name: 'carl' },
      comment: { text: 'rude words', deleted: true },
    })
    expect(await one(ACCOUNT)).toMatchObject({ flaggedAccount: { name: 'carl' }, reporterAccount: { name: 'bob' } })
    const channel = { name: 'carl_channel', displayName: 'Main carl channel', host: node.host, isLocal: true }
    await until(async () => (await node.query("select 1 from channel where name = 'Main carl channel'")).length === 0, {
      what: 'the end of the channel',
    })
    expect(await one(FIRST)).toMatchObject({
      video: { deleted: true, channel: { ...channel, avatars: [], banners: [] } },
    })
    expect(await found('searchVideoChannel=main%20carl')).toEqual([FIRST, SECOND])
  })
})
