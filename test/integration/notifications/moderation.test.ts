// Notifications about reports, blocks and newcomers: who is notified of what.

import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { Client } from '../../../scripts/demo/client.ts'
import { type FederatedNode, newcomer, startFederatedNode, uploadBy } from '../../federation/support.ts'
import { type MailServer, smtpConfig, startMailServer } from '../../support/mail-server.ts'
import { media } from '../../support/media.ts'
import { makeNotifiedUsers, notificationMailsByAddress, notificationsSeenBy } from '../../support/notified-users.ts'
import { until } from '../../support/until.ts'
import { startVideoOrigin, type VideoOrigin } from '../../support/video-origin.ts'
import { applicant } from '../registrations/node.ts'

const ONCE = '1 with 0 mails'
const ONCE_AND_MAILED = '1 with 1 mails'

const ABUSE = { reported: 3, decided: 15, message: 16 }
const VIDEO = { blocked: 4, unblocked: 5, published: 6, quarantined: 12 }
const NEWCOMER = { registered: 9, requested: 20 }

let node: FederatedNode
let mail: MailServer
let notifiedUsers: ReturnType<typeof makeNotifiedUsers>
/** Moderators: one mutes the reporter, one has disabled all notifications, one is blocked. */
let mod: Client
let muting: Client
let ana: Client
let ben: Client
let bens: { id: number; uuid: string }
let bytes: Buffer
let site: VideoOrigin

beforeAll(async () => {
  ;[mail, site] = await Promise.all([startMailServer(), startVideoOrigin('localhost')])
  node = await startFederatedNode({
    smtp: smtpConfig(mail),
    import: { videos: { http: { enabled: true } } },
    vireo: { notifications: { mail_window: '1 ms' }, federation: { allow_http: true, allow_private_addresses: true } },
    signup: { enabled: true, limit: -1, requires_approval: false, requires_email_verification: false },
  })
  notifiedUsers = makeNotifiedUsers(node, mail)
  const moderator = { role: 1 }
  mod = await newcomer(node, 'mod', moderator)
  muting = await newcomer(node, 'muting', moderator)
  const silent = await newcomer(node, 'silent', moderator)
  await newcomer(node, 'gone', moderator)
  ana = await newcomer(node, 'ana')
  ben = await newcomer(node, 'ben')
  bytes = await readFile(await media('small.mp4'))
  bens = await uploadBy(ben, bytes)
  await muting.send('POST', '/api/v1/users/me/blocklist/accounts', { accountName: 'ana' })
  await ana.send('POST', '/api/v1/users/me/blocklist/accounts', { accountName: 'mod' })
  await silent.send('PUT', '/api/v1/users/me/notification-settings', allSettings(0))
  await mod.send('PUT', '/api/v1/users/me/notification-settings', { ...allSettings(1), newUserRegistration: 3 })
  const { data } = await node.client.get<{ data: { id: number }[] }>('/api/v1/users?search=gone')
  await node.client.send('POST', `/api/v1/users/${data[0]?.id}/block`, {})
})
afterAll(async () => {
  await node?.stop()
  await Promise.all([mail?.close(), site?.close()])
})

const allSettings = (value: number) => ({
  newVideoFromSubscription: value,
  newCommentOnMyVideo: value,
  abuseAsModerator: value,
  videoAutoBlacklistAsModerator: value,
  blacklistOnMyVideo: value,
  myVideoPublished: value,
  myVideoImportFinished: value,
  commentMention: value,
  newFollow: value,
  newUserRegistration: value,
  newInstanceFollower: value,
  autoInstanceFollowing: value,
  abuseStateChange: value,
  abuseNewMessage: value,
  newPeerTubeVersion: value,
  newPluginVersion: value,
  myVideoStudioEditionFinished: value,
  myVideoTranscriptionGenerated: value,
})

const report = async (by: Client, body: object): Promise<number> =>
  (await by.send<{ abuse: { id: number } }>('POST', '/api/v1/abuses', { reason: 'This is bad', ...body })).abuse.id
const decide = (by: Client, id: number, change: object) => by.send('PUT', `/api/v1/abuses/${id}`, change)
const write = (by: Client, id: number, message: string) => by.send('POST', `/api/v1/abuses/${id}/messages`, { message })
const custom = async (change: object) =>
  await node.client.send('PUT', '/api/v1/config/custom', {
    ...(await node.client.get<object>('/api/v1/config/custom')),
    ...change,
  })
const infoOf = ({ id, uuid }: { id: number; uuid: string }) => ({
  id,
  uuid,
  shortUUID: expect.any(String),
  name: 'A video of ours',
})
const actorOf = (name: string) => ({ id: expect.any(Number), displayName: name, name, host: node.host, avatars: [] })

describe('a report', () => {
  it('notifies every moderator once, except the blocked one and the one who mutes the reporter, and nobody else', async () => {
    const id = await report(ana, { video: { id: bens.id } })
    expect(await notifiedUsers(ABUSE.reported)).toEqual({ root: ONCE_AND_MAILED, mod: ONCE })
    expect(await notificationsSeenBy(muting, ABUSE.reported)).toEqual([])
    expect(await notificationsSeenBy(mod, ABUSE.reported)).toEqual([{ read: false, abuse: { id, state: 1, video: infoOf(bens) } }])
    expect(await notificationsSeenBy(ana, ABUSE.reported)).toEqual([])
  })

  it('of a comment and of an account names its object', async () => {
    const { comment } = await ben.send<{ comment: { id: number } }>('POST', `/api/v1/videos/${bens.uuid}/comment-threads`, {
      text: 'first',
    })
    const ofComment = await report(ana, { comment: { id: comment.id } })
    const { account } = await ben.get<{ account: { id: number } }>('/api/v1/users/me')
    const ofAccount = await report(ana, { account: { id: account.id } })
    await notifiedUsers(ABUSE.reported)
    expect((await notificationsSeenBy(mod, ABUSE.reported)).slice(0, 2)).toEqual([
      { read: false, abuse: { id: ofAccount, state: 1, account: actorOf('ben') } },
      { read: false, abuse: { id: ofComment, state: 1, comment: { threadId: comment.id, video: infoOf(bens) } } },
    ])
  })

  it('that is decided notifies the reporter, again when the decision changes, and not otherwise', async () => {
    const id = await report(ana, { video: { id: bens.id } })
    await decide(mod, id, { moderationComment: 'I look at it' })
    expect(await notifiedUsers(ABUSE.decided)).toEqual({})
    await decide(mod, id, { state: 3 })
    expect(await notifiedUsers(ABUSE.decided)).toEqual({ ana: ONCE_AND_MAILED })
    await decide(mod, id, { state: 3, moderationComment: 'It is bad' })
    await decide(mod, id, { state: 1 })
    expect(await notifiedUsers(ABUSE.decided)).toEqual({})
    await decide(mod, id, { state: 2 })
    expect(await notifiedUsers(ABUSE.decided)).toEqual({ ana: ONCE_AND_MAILED })
    expect(await notificationsSeenBy(ana, ABUSE.decided)).toEqual([
      { read: false, abuse: { id, state: 2, video: infoOf(bens) } },
      { read: false, abuse: { id, state: 2, video: infoOf(bens) } },
    ])
  })

  it('by a moderator notifies the others, and no moderator is notified of an own decision', async () => {
    await notifiedUsers(ABUSE.reported)
    const id = await report(mod, { video: { id: bens.id } })
    expect(await notifiedUsers(ABUSE.reported)).toEqual({ root: ONCE_AND_MAILED, muting: ONCE_AND_MAILED })
    await decide(mod, id, { state: 3 })
    expect(await notifiedUsers(ABUSE.decided)).toEqual({})
    await decide(muting, id, { state: 2 })
    expect(await notifiedUsers(ABUSE.decided)).toEqual({ mod: ONCE })
  })

  it('can be discussed: messages of moderators notify the reporter, whose messages notify all of them', async () => {
    const id = await report(ana, { video: { id: bens.id } })
    await write(mod, id, 'What do you mean?')
    expect(await notifiedUsers(ABUSE.message)).toEqual({ ana: ONCE_AND_MAILED })
    await write(ana, id, 'All of it')
    expect(await notifiedUsers(ABUSE.message)).toEqual({ root: ONCE_AND_MAILED, mod: ONCE })
    expect(await notificationsSeenBy(mod, ABUSE.message)).toEqual([{ read: false, abuse: { id, state: 1, video: infoOf(bens) } }])
    const own = await report(mod, { video: { id: bens.id } })
    await write(mod, own, 'I add something')
    expect(await notifiedUsers(ABUSE.message)).toEqual({ root: ONCE_AND_MAILED, muting: ONCE_AND_MAILED })
  })
})

describe('a block of a video', () => {
  const block = (by: Client, id: number) => by.send('POST', `/api/v1/videos/${id}/blacklist`, { reason: 'Not here' })
  const unblock = (by: Client, id: number) => by.send('DELETE', `/api/v1/videos/${id}/blacklist`)

  it('notifies its owner, and so does its end, every time', async () => {
    await block(mod, bens.id)
    expect(await notifiedUsers(VIDEO.blocked)).toEqual({ ben: ONCE_AND_MAILED })
    expect(await notificationsSeenBy(ben, VIDEO.blocked)).toEqual([
      { read: false, videoBlacklist: { id: expect.any(Number), video: infoOf(bens) } },
    ])
    await unblock(mod, bens.id)
    expect(await notifiedUsers(VIDEO.unblocked)).toEqual({ ben: ONCE_AND_MAILED })
    await block(mod, bens.id)
    expect(await notifiedUsers(VIDEO.blocked)).toEqual({ ben: ONCE_AND_MAILED })
    await unblock(muting, bens.id)
    expect(await notifiedUsers(VIDEO.unblocked)).toEqual({ ben: ONCE_AND_MAILED })
    expect(await notificationsSeenBy(ben, VIDEO.unblocked)).toEqual(
      Array(2).fill({
        read: false,
        video: { ...infoOf(bens), channel: { ...actorOf('ben_channel'), displayName: 'Main ben channel' } },
      }),
    )
    for (const type of [VIDEO.quarantined, VIDEO.published]) expect(await notifiedUsers(type)).not.toHaveProperty('mod')
  })

  it('by its own owner notifies nobody', async () => {
    const own = await uploadBy(mod, bytes)
    await notifiedUsers(VIDEO.blocked)
    await block(mod, own.id)
    await unblock(mod, own.id)
    expect(await notifiedUsers(VIDEO.blocked)).toEqual({})
    expect(await notifiedUsers(VIDEO.unblocked)).toEqual({})
  })

  it('of new videos for approval notifies the moderators, and its end notifies the owner of the publication', async () => {
    await custom({ autoBlacklist: { videos: { ofUsers: { enabled: true } } } })
    const video = await uploadBy(ana, bytes)
    expect(await notifiedUsers(VIDEO.quarantined)).toEqual({ root: ONCE_AND_MAILED, muting: ONCE_AND_MAILED, mod: ONCE })
    expect(await notificationsSeenBy(mod, VIDEO.quarantined)).toEqual([
      { read: false, videoBlacklist: { id: expect.any(Number), video: infoOf(video) } },
    ])
    expect(await notifiedUsers(VIDEO.blocked)).toEqual({})
    expect(await notifiedUsers(VIDEO.published)).not.toHaveProperty('ana')
    await unblock(mod, video.id)
    expect(await notifiedUsers(VIDEO.published)).toEqual({ ana: ONCE })
    expect(await notifiedUsers(VIDEO.unblocked)).toEqual({})
    expect(await notificationsSeenBy(ana, VIDEO.published)).toEqual([
      {
        read: false,
        video: { ...infoOf(video), channel: { ...actorOf('ana_channel'), displayName: 'Main ana channel' } },
      },
    ])
  })

  it('of an import for approval notifies when its file exists', async () => {
    site.answer('/later.mp4', { type: 'video/mp4', bytes })
    const { videoChannels } = await ana.get<{ videoChannels: { id: number }[] }>('/api/v1/users/me')
    await ana.send('POST', '/api/v1/videos/imports', {
      targetUrl: `http://localhost:${site.port}/nothing.mp4`,
      channelId: videoChannels[0]?.id,
      name: 'Not there',
    })
    const { video } = await ana.send<{ video: { id: number } }>('POST', '/api/v1/videos/imports', {
      targetUrl: `http://localhost:${site.port}/later.mp4`,
      channelId: videoChannels[0]?.id,
      name: 'A film',
    })
    const settled = "select 1 from video_import where state in ('success', 'failed')"
    await until(async () => (await node.query(settled)).length === 2, { what: 'the end of both imports' })
    expect(await notifiedUsers(VIDEO.quarantined)).toEqual({ root: ONCE_AND_MAILED, muting: ONCE_AND_MAILED, mod: ONCE })
    expect((await notificationsSeenBy(mod, VIDEO.quarantined))[0]).toMatchObject({ videoBlacklist: { video: { id: video.id } } })
    await custom({ autoBlacklist: { videos: { ofUsers: { enabled: false } } } })
  })
})

describe('a newcomer', () => {
  const signup = async (path: string, body: object) => {
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(`${node.base}/api/v1/users${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    })
    expect({ status: answer.status, text: answer.ok ? '' : await answer.text() }).toMatchObject({ text: '' })
  }

  it('who registers notifies those who manage users', async () => {
    await signup('/register', applicant('nora'))
    expect(await notifiedUsers(NEWCOMER.registered)).toEqual({ root: ONCE, muting: ONCE, mod: ONCE_AND_MAILED })
    expect(await notificationsSeenBy(mod, NEWCOMER.registered)).toEqual([{ read: false, account: actorOf('nora') }])
  })

  it('created by an administrator notifies nobody', async () => {
    await newcomer(node, 'otto')
    expect(await notifiedUsers(NEWCOMER.registered)).toEqual({})
  })

  it('who requests an account notifies the same, with one mail to those who want it', async () => {
    const { signup: before } = await node.client.get<{ signup: object }>('/api/v1/config/custom')
    await custom({ signup: { ...before, requiresApproval: true } })
    await signup('/registrations/request', applicant('pia', { registrationReason: 'I make films' }))
    expect(await notifiedUsers(NEWCOMER.requested)).toEqual({ root: ONCE, muting: ONCE, mod: ONCE_AND_MAILED })
    expect(await notifiedUsers(NEWCOMER.registered)).toEqual({})
    expect(await notificationsSeenBy(mod, NEWCOMER.requested)).toEqual([
      { read: false, registration: { id: expect.any(Number), username: 'pia' } },
    ])
    const mails = await node.query("select 1 from job where type = 'email' and data->>'mail' = 'registration-requested'")
    expect(mails).toEqual([])
  })
})

it('sends no unwanted mail', () => {
  expect(notificationMailsByAddress(mail)).toEqual({
    'admin@example.com': 11,
    'muting@example.org': 5,
    'ana@example.org': 3,
    'ben@example.org': 4,
    'mod@example.org': 2,
  })
})

it('a former moderator sees none of these, except own reports', async () => {
  const { id } = await mod.get<{ id: number }>('/api/v1/users/me')
  await node.client.send('PUT', `/api/v1/users/${id}`, { role: 2 })
  const left = new Set<number>()
  for (const type of [...Object.values(ABUSE), ...Object.values(VIDEO), ...Object.values(NEWCOMER)]) {
    if ((await notificationsSeenBy(mod, type)).length > 0) left.add(type)
  }
  expect([...left]).toEqual([ABUSE.decided])
})
