// The public face of the instance: its homepage, the contact form, and its statistics. Two processes.

import { Writable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { Database } from '../../../src/platform/database/index.ts'
import { makeLogger } from '../../../src/platform/logger.ts'
import { makeRemoteChannel, makeUser, makeVideo } from '../../support/builders.ts'
import { smtpConfig } from '../../support/mail-server.ts'
import { startTestNode, type TestNode } from '../../support/node.ts'
import { until } from '../../support/until.ts'
import { type MailNode, startMailNode } from '../registrations/node.ts'

let at: MailNode
let beside: TestNode
let logged = ''

beforeAll(async () => {
  const destination = new Writable({
    write(chunk, _encoding, done) {
      logged += chunk
      done()
    },
  })
  const config = {
    admin: { email: 'keeper@example.com' },
    instance: { name: 'Cats' },
    email: { subject: { prefix: '[Cats]' } },
    trust_proxy: ['loopback'],
    redundancy: {
      videos: { strategies: [{ strategy: 'trending', size: '1MB', min_lifetime: '1 day', min_views: 1 }] },
    },
  }
  at = await startMailNode({ config, logger: makeLogger({ level: 'debug', destination }) })
  beside = await startTestNode({
    beside: at.node,
    clock: at.clock,
    roles: ['web'],
    config: { smtp: smtpConfig(at.mail), ...config, vireo: { runtime: { sweep_interval: 100 } } },
  })
})
afterAll(async () => {
  await beside?.stop()
  await at?.stop()
})

const HOMEPAGE = '/custom-pages/homepage/instance'
const write = (content: unknown) => at.ask('PUT', HOMEPAGE, { content }, at.root)
const configOf = async (base: string) => (await (await fetch(`${base}/api/v1/config`)).json()) as { homepage: { enabled: boolean } }

describe('the homepage', () => {
  it('is 404 before it is written', async () => {
    expect((await at.ask('GET', HOMEPAGE)).status).toBe(404)
    expect((await configOf(at.node.base)).homepage).toEqual({ enabled: false })
  })

  it('is served as written, and announced by every process', async () => {
    await configOf(beside.base)
    const content = '# Hello\n<script>alert(1)</script><peertube-container></peertube-container>'
    expect((await write(content)).status).toBe(204)
    expect((await at.ask('GET', HOMEPAGE)).body).toEqual({ content })
    expect((await configOf(at.node.base)).homepage).toEqual({ enabled: true })
    await until(async () => (await configOf(beside.base)).homepage.enabled, {
      what: 'the homepage in the other process',
    })
  })

  it('without text remains stored, and is not announced', async () => {
    expect((await write('')).status).toBe(204)
    expect((await at.ask('GET', HOMEPAGE)).body).toEqual({ content: '' })
    expect((await configOf(at.node.base)).homepage).toEqual({ enabled: false })
  })

  it('is refused when it is not text, or too long', async () => {
    await write('kept')
    for (const content of [{ a: 1 }, 5, null, 'x'.repeat(500_001)]) {
      const answer = await write(content)
      expect(answer.status).toBe(400)
      expect(answer.body['invalid-params']).toHaveProperty('content')
    }
    expect((await at.ask('GET', HOMEPAGE)).body).toEqual({ content: 'kept' })
  })
})

const message = { fromName: 'Ada', fromEmail: 'ada@example.org', subject: 'A question', body: 'May I\nask something?' }
const contact = async (from: string, sent: object = message, base = at.node.base) => {
  const answer = await fetch(`${base}/api/v1/server/contact`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-for': from },
    body: JSON.stringify(sent),
  })
  const text = await answer.text()
  return { status: answer.status, body: text === '' ? undefined : JSON.parse(text) }
}
const waiting = () => at.query('select * from contact_message')

describe('the contact form', () => {
  it('sends a mail to the administrator, with the sender as Reply-To', async () => {
    expect((await contact('203.0.113.1')).status).toBe(204)
    const mail = await at.mail.next('keeper@example.com')
    expect(mail.subject).toBe('[Cats] A question')
    expect(mail.from).toBe('admin@example.com')
    expect(mail.headers['reply-to']).toBe('ada@example.org')
    expect(mail.headers.from).toMatch(/^Cats </)
    expect(mail.text).toContain('Ada (ada@example.org) wrote through the contact form of Cats')
    expect(mail.text).toMatch(/^> May I\r\n> ask something\?/m)
    await until(async () => (await waiting()).length === 0, { what: 'the end of the message' })
  })

  it('accepts one message per address and hour, in all processes together', async () => {
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, index) => contact('203.0.113.2', message, index % 2 === 0 ? at.node.base : beside.base)),
    )
    expect(answers.map(({ status }) => status).toSorted()).toEqual([204, 403, 403, 403, 403, 403])
    at.clock.pass(3_599_000)
    expect((await contact('203.0.113.2', message, beside.base)).status).toBe(403)
    at.clock.pass(1000)
    expect((await contact('203.0.113.2', message, beside.base)).status).toBe(204)
    await at.mail.next('keeper@example.com')
    await at.mail.next('keeper@example.com')
  })

  it('counts all addresses of an IPv6 network as one', async () => {
    expect((await contact('2001:db8:7:7::1')).status).toBe(204)
    expect((await contact('2001:db8:7:7:ffff::2')).status).toBe(403)
    expect((await contact('2001:db8:7:8::1')).status).toBe(204)
    await at.mail.next('keeper@example.com')
    await at.mail.next('keeper@example.com')
  })

  it('adds no headers and no markup of the sender', async () => {
    const hostile = {
      fromName: 'Eve\r\nBcc: victim@example.org',
      fromEmail: 'eve@example.org',
      subject: 'Hi\r\nBcc: victim@example.org\r\n\r\nanother body',
      body: '<img src=x onerror=alert(1)>\r\n.\r\nRCPT TO:<victim@example.org>',
    }
    expect((await contact('203.0.113.3', hostile)).status).toBe(204)
    const mail = await at.mail.next('keeper@example.com')
    expect(mail.to).toEqual(['keeper@example.com'])
    expect(mail.headers).not.toHaveProperty('bcc')
    expect(mail.subject).toBe('[Cats] Hi Bcc: victim@example.org another body')
    expect(mail.html).not.toContain('<img')
    for (const fromEmail of ['eve@example.org\r\nBcc: victim@example.org', 'a@example.org, b@example.org', '<a@b.org>']) {
      const { status, body } = await contact('203.0.113.4', { ...message, fromEmail })
      expect([status, Object.keys(body['invalid-params'])]).toEqual([400, ['fromEmail']])
    }
  })

  it('names every invalid field, and a refused message does not count', async () => {
    const { status, body } = await contact('203.0.113.5', { fromName: 'x'.repeat(121), fromEmail: 'x', body: 'no' })
    expect(status).toBe(400)
    expect(Object.keys(body['invalid-params']).toSorted()).toEqual(['body', 'fromEmail', 'fromName'])
    expect((await contact('203.0.113.5', { ...message, body: 'x'.repeat(5001) })).status).toBe(400)
    expect((await contact('203.0.113.5', { fromName: null, fromEmail: 'a@example.org', body: 'abc' })).status).toBe(204)
    const mail = await at.mail.next('keeper@example.com')
    expect(mail.subject).toBe('[Cats] A message to Cats')
    expect(mail.text).toContain('Somebody (a@example.org) wrote')
  })

  it('keeps the message out of queue and log while the mail server refuses it', async () => {
    at.mail.refuseWith = 451
    expect((await contact('203.0.113.6', { ...message, body: 'a very private question' })).status).toBe(204)
    await until(async () => (await at.query("select 1 from job where type = 'email' and error like '%451%'")).length === 1)
    expect(await waiting()).toHaveLength(1)
    at.mail.refuseWith = null
    at.clock.pass(60_000)
    expect((await at.mail.next('keeper@example.com')).text).toContain('a very private question')
    await until(async () => (await waiting()).length === 0)
    expect(JSON.stringify(await at.query('select * from job'))).not.toMatch(/private question|example\.org/)
    expect(JSON.stringify(await at.query('select * from contact_sender'))).not.toContain('203.0.113')
    for (const hidden of ['private question', 'ada@example.org', 'keeper@example.com']) expect(logged).not.toContain(hidden)
  })

  it('sends messages whose job was lost, once a mail server is available again', async () => {
    at.mail.refuseWith = 451
    expect((await contact('203.0.113.8', { ...message, subject: 'Still here?' })).status).toBe(204)
    const failed = "select id from job where type = 'email' and error like '%451%' and state = 'delayed'"
    await until(async () => (await at.query(failed)).length === 1)
    await at.query(`update job set state = 'failed', finished_at = now() where id in (${failed})`)
    at.mail.refuseWith = null
    at.clock.pass(3_600_000)
    expect((await at.mail.next('keeper@example.com')).subject).toBe('[Cats] Still here?')
    await until(async () => (await waiting()).length === 0)
  })

  it('is answered with 409 when it is disabled', async () => {
    const custom = (await at.ask('GET', '/config/custom', undefined, at.root)).body
    await at.ask('PUT', '/config/custom', { ...custom, contactForm: { enabled: false } }, at.root)
    expect((await contact('203.0.113.7')).status).toBe(409)
    expect((await contact('203.0.113.7', {})).status).toBe(400)
  })
})

interface Stats {
  [name: string]: number | null | { strategy: string; totalSize: number | null; totalUsed: number }[]
}

async function statsOf(base = at.node.base): Promise<Stats> {
  at.clock.pass(31_000)
  return (await (await fetch(`${base}/api/v1/server/stats`)).json()) as Stats
}

/** The differences of two objects. */
const changed = (before: Stats, after: Stats): Stats =>
  Object.fromEntries(Object.entries(after).filter(([name, value]) => JSON.stringify(before[name]) !== JSON.stringify(value)))

describe('the statistics', () => {
  it('may be cached for four hours', async () => {
    const answer = await fetch(`${at.node.base}/api/v1/server/stats`)
    expect(answer.headers.get('cache-control')).toBe('max-age=14400')
    expect(answer.headers.get('etag')).not.toBeNull()
  })

  it('count public content, users, follows, reports and requests', async () => {
    const db: Pick<Database, 'query'> = { query: (sql, values = []) => at.query(sql, [...values]) }
    const before = await statsOf()
    const origin = at.node.base
    const user = await makeUser(db, { origin })
    const moderator = await makeUser(db, { role: 1, origin })
    await at.query("update users set last_login_at = $2::timestamptz - interval '3 days' where id = $1", [user.id, at.clock.now()])
    await at.query('update users set last_login_at = $2 where id = $1', [moderator.id, at.clock.now()])
    const published = new Date(at.clock.now().getTime() - 3 * 86_400_000)
    const video = await makeVideo(db, {
      channelId: user.channelId,
      columns: { views: 7, files_size: 4_000_000_000, published_at: published },
    })
    await makeVideo(db, {
      channelId: moderator.channelId,
      columns: { views: 1, privacy: 3, published_at: at.clock.now() },
    })
    await makeVideo(db, { channelId: user.channelId, columns: { views: 50, files_size: 9, state: 'removed' } })
    const remote = await makeRemoteChannel(db)
    await makeVideo(db, { channelId: remote.channelId, columns: { remote: true, views: 100, files_size: 5 } })
    await at.query(
      `insert into comment (video_id, account_id, url, text, held_for_review, deleted_at) values
       ($1, $2, 'https://x/1', 'shown', false, null), ($1, $2, 'https://x/2', 'waits', true, null),
       ($1, $2, 'https://x/3', '', false, now()), ($1, $3, 'https://x/4', 'theirs', false, null)`,
      [video.id, user.accountId, remote.accountId],
    )
    await at.query(
      `insert into playlist (account_id, name, type, privacy, url)
       values ($1, 'seen', 1, 1, 'https://x/p1'), ($1, 'mine', 1, 3, 'https://x/p2')`,
      [user.accountId],
    )
    await at.query(
      `insert into follow (follower_id, target_id, state)
       select a.actor_id, us.id, 'accepted' from account a, actor us
       where a.id = $1 and us.type = 'Application' and us.host_id is null`,
      [remote.accountId],
    )
    await at.query(
      `insert into registration (state, context, username, email, registration_reason, created_at, processed_at)
       values ('accepted', '{}', 'r1', 'r1@example.org', 'x', $1, $1::timestamptz + interval '2 seconds'),
         ('requested', '{}', 'r2', 'r2@example.org', 'x', $1, null)`,
      [at.clock.now()],
    )
    expect(changed(before, await statsOf(beside.base))).toEqual({
      totalUsers: Number(before.totalUsers) + 2,
      totalModerators: 1,
      totalDailyActiveUsers: Number(before.totalDailyActiveUsers) + 1,
      totalWeeklyActiveUsers: Number(before.totalWeeklyActiveUsers) + 2,
      totalMonthlyActiveUsers: Number(before.totalMonthlyActiveUsers) + 2,
      totalLocalVideos: 1,
      totalVideos: 2,
      totalLocalVideoViews: 8,
      totalLocalVideoFilesSize: 4_000_000_000,
      totalLocalVideoComments: 1,
      totalVideoComments: 2,
      totalLocalVideoChannels: Number(before.totalLocalVideoChannels) + 2,
      totalLocalWeeklyActiveVideoChannels: 1,
      totalLocalMonthlyActiveVideoChannels: 1,
      totalLocalPlaylists: 1,
      totalInstanceFollowers: 1,
      averageRegistrationRequestResponseTimeMs: 2000,
      totalRegistrationRequests: 2,
      totalRegistrationRequestsProcessed: 1,
    })
  })

  it('sum the activities of all processes, with their recent rate per second', async () => {
    const count = (delta: number) =>
      at.query("insert into activity_total_delta (type, success, delta) values ('Create', true, $1), ('Like', false, 1)", [delta])
    const unfolded = () => at.query('select 1 from activity_total_delta')
    const noted = () => at.query('select 1 from activity_rate where at = $1', [at.clock.now()])
    const before = await statsOf()
    await count(40)
    const created = Number(before.totalActivityPubCreateMessagesSuccesses) + 40
    expect(await statsOf()).toMatchObject({ totalActivityPubCreateMessagesSuccesses: created })
    at.clock.pass(61_000)
    await until(async () => (await unfolded()).length === 0 && (await noted()).length === 1, { what: 'the fold and its rate' })
    await at.query('delete from activity_rate where at < $1', [at.clock.now()])
    await count(59)
    at.clock.pass(29_000)
    expect(await statsOf(beside.base)).toMatchObject({
      totalActivityPubCreateMessagesSuccesses: created + 59,
      totalActivityPubLikeMessagesErrors: 2,
      activityPubMessagesProcessedPerSecond: 1,
    })
  })

  it('contain the usage of each mirroring strategy', async () => {
    expect((await statsOf()).videosRedundancy).toEqual([
      { strategy: 'trending', totalSize: 1_048_576, totalUsed: 0, totalVideos: 0, totalVideoFiles: 0 },
      { strategy: 'manual', totalSize: null, totalUsed: 0, totalVideos: 0, totalVideoFiles: 0 },
    ])
  })

  it('contain the time to the first decision on a report', async () => {
    const [video] = await at.query<{ id: number }>('select id from video where privacy = 1 and not remote limit 1')
    const report = { reason: 'this is bad', video: { id: video?.id } }
    const { body } = await at.ask('POST', '/abuses', report, at.root)
    const id = (body as unknown as { abuse: { id: number } }).abuse.id
    await at.query('update abuse set created_at = $1', [at.clock.now()])
    at.clock.pass(5000)
    for (const state of [3, 1, 2]) {
      expect((await at.ask('PUT', `/abuses/${id}`, { state }, at.root)).status).toBe(204)
      at.clock.pass(60_000)
    }
    expect(await statsOf()).toMatchObject({
      totalAbuses: 1,
      totalAbusesProcessed: 1,
      averageAbuseResponseTimeMs: 5000,
    })
  })
})

describe('the lists of follows', () => {
  it('are filtered by state, kind of actor and text, and sorted', async () => {
    const db: Pick<Database, 'query'> = { query: (sql, values = []) => at.query(sql, [...values]) }
    await at.query('delete from follow')
    const states = ['accepted', 'pending', 'rejected', 'expired'] as const
    for (const [index, state] of states.entries()) {
      const { host } = await makeRemoteChannel(db, { host: `${state}.example`, username: `by_${state}` })
      await at.query('update remote_host set redundancy_allowed = $2 where host = $1', [host, state === 'pending'])
      for (const [follower, target] of [
        ['them', 'us'],
        ['us', 'them'],
      ]) {
        await at.query(
          `insert into follow (follower_id, target_id, state, created_at)
           select ${follower}.id, ${target}.id, $2, $3 from actor us, actor them join remote_host h on h.id = them.host_id
           where h.host = $1 and them.type = $4 and us.type = 'Application' and us.host_id is null`,
          [host, state, new Date(index * 1000), index % 2 === 0 ? 'Person' : 'Group'],
        )
      }
    }
    interface Follow {
      state: string
      follower: { host: string; hostRedundancyAllowed: boolean }
      following: { host: string; hostRedundancyAllowed: boolean }
    }
    const listed = async (direction: 'followers' | 'following', query: string) => {
      const answer = await fetch(`${at.node.base}/api/v1/server/${direction}?${query}`)
      const { total, data } = (await answer.json()) as { total: number; data: Follow[] }
      const other = direction === 'followers' ? 'follower' : 'following'
      return [total, ...data.map((one) => one[other].host.replace('.example', ''))]
    }
    for (const direction of ['followers', 'following'] as const) {
      const list = (query: string) => listed(direction, query)
      expect(await list('')).toEqual([4, 'expired', 'rejected', 'pending', 'accepted'])
      expect(await list('sort=createdAt&start=1&count=2')).toEqual([4, 'pending', 'rejected'])
      expect(await list('state=rejected')).toEqual([2, 'expired', 'rejected'])
      expect(await list('state=pending')).toEqual([1, 'pending'])
      expect(await list('actorType=Person')).toEqual([2, 'rejected', 'accepted'])
      expect(await list('actorType=Group&state=rejected')).toEqual([1, 'expired'])
      expect(await list('search=PENDING.ex')).toEqual([1, 'pending'])
      expect(await list('search=by_acc')).toEqual([1, 'accepted'])
      expect(await list('search=_%25')).toEqual([0])
      expect(await list('sort=state')).toEqual([4, 'accepted', 'pending', 'rejected', 'expired'])
    }
    expect(await listed('following', 'sort=-redundancyAllowed&count=1')).toEqual([4, 'pending'])
    const { data } = (await (await fetch(`${at.node.base}/api/v1/server/following?state=pending`)).json()) as {
      data: Follow[]
    }
    expect(data[0]?.following.hostRedundancyAllowed).toBe(true)
    expect(data[0]?.follower.hostRedundancyAllowed).toBe(false)
  })
})
