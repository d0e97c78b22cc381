// Notifications about videos, comments, mentions and followers: once, on the site and by mail as configured, and to nobody else.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { publish } from '../../support/live.ts'
import { until } from '../../support/until.ts'
import { type NotificationServer, type Person, startNotificationServer, type Told } from './server.ts'

const [NEW_VIDEO, NEW_COMMENT, PUBLISHED, FOLLOW, MENTION, NEW_LIVE] = [1, 2, 6, 10, 11, 21]
const [PUBLIC, UNLISTED, PRIVATE, INTERNAL] = ['1', '2', '3', '4']
const [NONE, WEB, MAIL, BOTH] = [0, 1, 2, 3]

let server: NotificationServer
let alice: Person
let bob: Person
let carol: Person
let dave: Person

beforeAll(async () => {
  server = await startNotificationServer({
    live: { enabled: true },
    vireo: {
      notifications: { flood_limit: 5, flood_window: '1 hour' },
      live: { segment_duration: '1 second', reconnect_window: '2 seconds' },
    },
  })
  alice = await server.person('alice')
  bob = await server.person('bob')
  carol = await server.person('carol')
  dave = await server.person('dave')
})
afterAll(() => server?.stop())

const subscribe = (person: Person, to: Person) =>
  person.client.send('POST', '/api/v1/users/me/subscriptions', { uri: `${to.name}_channel@${server.host}` })
const unsubscribe = (person: Person, from: Person) =>
  person.client.send('DELETE', `/api/v1/users/me/subscriptions/${from.name}_channel@${server.host}`)
const say = async (by: Person, uuid: string, text: string): Promise<number> => {
  const path = `/api/v1/videos/${uuid}/comment-threads`
  return (await by.client.send<{ comment: { id: number } }>('POST', path, { text })).comment.id
}
const change = async (by: Person, uuid: string, fields: Record<string, string>) => {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.set(name, value)
  await by.client.send('PUT', `/api/v1/videos/${uuid}`, form)
}
const ofType = (notified: Told[], type: number | undefined) => notified.filter((one) => one.type === type)
const ofVideo = (notified: Told[], { id }: { id: number }) => notified.filter(({ video }) => video?.id === id)
const ofComment = (notified: Told[], id: number) => notified.filter(({ comment }) => comment?.id === id)

describe('the owner of a channel', () => {
  it('is notified of each follower once, however often they follow again', async () => {
    await subscribe(bob, alice)
    const [first, ...others] = await server.notificationsOf(alice)
    expect(others).toEqual([])
    expect(first).toMatchObject({
      type: FOLLOW,
      read: false,
      actorFollow: {
        state: 'accepted',
        follower: { id: bob.accountId, name: 'bob', host: server.host },
        following: { type: 'channel', name: 'alice_channel' },
      },
    })
    expect(await server.pushed(alice)).toEqual([first?.id])
    expect(await server.mailed(alice)).toEqual([])
    await unsubscribe(bob, alice)
    expect(await server.notificationsOf(alice)).toEqual([])
    await subscribe(bob, alice)
    await server.notificationsOf(alice)
    expect(await server.pushed(alice)).toEqual([first?.id])
  })

  it('is not notified of own follows', async () => {
    await subscribe(alice, alice)
    expect(ofType(await server.notificationsOf(alice), FOLLOW)).toEqual([])
    await unsubscribe(alice, alice)
  })
})

describe('subscribers', () => {
  beforeAll(async () => {
    await subscribe(carol, alice)
    await subscribe(dave, alice)
    await server.quiet()
  })

  it('are notified of a new video as they have configured, and its owner is not', async () => {
    await server.wants(bob, { newVideoFromSubscription: BOTH })
    await server.wants(carol, { newVideoFromSubscription: MAIL })
    await server.wants(dave, { newVideoFromSubscription: NONE })
    const video = await server.uploadBy(alice, { name: 'The first one' })
    const [notified, ...others] = ofVideo(await server.notificationsOf(bob), video)
    expect(others).toEqual([])
    expect(notified).toMatchObject({
      type: NEW_VIDEO,
      read: false,
      video: {
        id: video.id,
        uuid: video.uuid,
        name: 'The first one',
        channel: { name: 'alice_channel', host: server.host },
      },
    })
    expect(await server.pushed(bob)).toEqual([notified?.id])
    expect(await server.mailed(bob)).toEqual([notified?.id])
    expect(ofVideo(await server.notificationsOf(carol), video)).toEqual([])
    expect(await server.pushed(carol)).toEqual([])
    expect(await server.mailed(carol)).toHaveLength(1)
    expect(await server.notificationsOf(dave)).toEqual([])
    expect([...(await server.pushed(dave)), ...(await server.mailed(dave))]).toEqual([])
    expect(ofVideo(await server.notificationsOf(alice), video)).toEqual([])
    await server.wants(bob, { newVideoFromSubscription: WEB })
    await server.wants(carol, { newVideoFromSubscription: WEB })
  })

  it('are notified once of each stream of a live, as they have configured', async () => {
    await server.wants(carol, { newVideoFromSubscription: MAIL })
    await server.wants(dave, { newVideoFromSubscription: NONE })
    const me = await alice.client.get<{ videoChannels: { id: number }[] }>('/api/v1/users/me')
    const fields = { channelId: me.videoChannels[0]?.id, name: 'A live', privacy: 1, permanentLive: true }
    const { video: live } = await alice.client.send<{ video: { id: number } }>('POST', '/api/v1/videos/live', fields)
    const { streamKey } = await alice.client.get<{ streamKey: string }>(`/api/v1/videos/live/${live.id}`)
    const stream = async (seconds: number) =>
      expect(await publish(`rtmp://127.0.0.1:${server.node.server.live.rtmp}/live/${streamKey}`, { seconds, paced: true })).toMatchObject({
        code: 0,
      })
    const rows = (type: number) =>
      server.query<{ id: number; user_id: number }>(
        'select id::int, user_id from notification where video_id = $1 and type = $2 order by id',
        [live.id, type],
      )
    const started = (count: number) =>
      until(async () => ((await rows(NEW_LIVE)).length === count ? true : undefined), { what: `${count} notifications` })
    // Longer than a segment, so that it still plays when its start is announced.
    const first = stream(10)
    await started(2)
    const [notified] = ofVideo(await server.notificationsOf(bob), live)
    expect(notified).toMatchObject({ type: NEW_LIVE, video: { name: 'A live', channel: { name: 'alice_channel' } } })
    expect(await server.pushed(bob)).toContain(notified?.id)
    expect(ofVideo(await server.notificationsOf(carol), live)).toEqual([])
    expect(await server.mailed(carol)).toContain((await rows(NEW_LIVE)).find(({ user_id }) => user_id === carol.userId)?.id)
    await first
    await until(
      async () => (await server.query('select from video where id = $1 and state = $2', [live.id, 'waiting-for-live'])).length === 1,
    )
    const second = stream(10)
    await started(4)
    await second
    await server.quiet()
    expect(await rows(NEW_LIVE)).toHaveLength(4)
    expect(await rows(NEW_VIDEO)).toEqual([])
    await server.wants(carol, { newVideoFromSubscription: WEB })
    await server.wants(dave, { newVideoFromSubscription: WEB })
  })

  it('are notified of a private video when it is published, and not again', async () => {
    const video = await server.uploadBy(alice, { privacy: `${PRIVATE}` })
    const seen = async () => ofVideo(await server.notificationsOf(bob), video).length
    expect(await seen()).toBe(0)
    await change(alice, video.uuid, { privacy: `${UNLISTED}` })
    expect(await seen()).toBe(0)
    await change(alice, video.uuid, { privacy: `${INTERNAL}` })
    expect(await seen()).toBe(1)
    await change(alice, video.uuid, { privacy: `${PRIVATE}` })
    expect(await seen()).toBe(0)
    await change(alice, video.uuid, { privacy: `${PUBLIC}` })
    expect(await seen()).toBe(1)
    // Later subscribers are not notified of older videos.
    const erin = await server.person('erin')
    await subscribe(erin, alice)
    await change(alice, video.uuid, { privacy: `${PRIVATE}` })
    await change(alice, video.uuid, { privacy: `${PUBLIC}` })
    expect(await server.notificationsOf(erin)).toEqual([])
  })

  it('are notified of a blocked video when its block ends', async () => {
    const video = await server.uploadBy(alice, { privacy: `${PRIVATE}` })
    await server.client.send('POST', `/api/v1/videos/${video.id}/blacklist`, { reason: 'wait' })
    await change(alice, video.uuid, { privacy: `${PUBLIC}` })
    expect(ofVideo(await server.notificationsOf(bob), video)).toEqual([])
    await server.client.send('DELETE', `/api/v1/videos/${video.id}/blacklist`)
    expect(ofVideo(await server.notificationsOf(bob), video)).toHaveLength(1)
  })

  it('and its owner are notified of a scheduled video when it is published', async () => {
    const video = await server.uploadBy(alice, {
      privacy: `${PRIVATE}`,
      'scheduleUpdate[updateAt]': new Date(Date.now() + 3_600_000).toISOString(),
      'scheduleUpdate[privacy]': '1',
    })
    expect(ofVideo([...(await server.notificationsOf(bob)), ...(await server.notificationsOf(alice))], video)).toEqual([])
    await server.query('update video_schedule set update_at = now() where video_id = $1', [video.id])
    await until(async () => ofVideo(await server.notificationsOf(bob), video).length === 1, { what: 'the scheduled video' })
    expect(ofVideo(await server.notificationsOf(alice), video)).toMatchObject([{ type: PUBLISHED }])
  })
})

describe('a comment', () => {
  let video: { id: number; uuid: string }
  beforeAll(async () => {
    video = await server.uploadBy(alice, { name: 'Talked about' })
  })

  it('notifies the owner of the video and mentioned users, each of them once', async () => {
    const text = `Hi @carol, @alice and @bob. Also @dave@${server.host}! Not mail@alice.example, @dave@elsewhere.example.`
    const id = await say(bob, video.uuid, text)
    const toAlice = ofComment(await server.notificationsOf(alice), id)
    expect(toAlice).toMatchObject([
      {
        type: NEW_COMMENT,
        comment: {
          id,
          threadId: id,
          heldForReview: false,
          account: { id: bob.accountId, name: 'bob' },
          video: { id: video.id },
        },
      },
    ])
    for (const person of [carol, dave]) {
      expect(ofComment(await server.notificationsOf(person), id)).toMatchObject([{ type: MENTION }])
    }
    expect(ofComment(await server.notificationsOf(bob), id)).toEqual([])
    const [local] = toAlice
    expect((await server.pushed(alice)).filter((one) => one === local?.id)).toHaveLength(1)
  })

  it('notifies an owner who only wants mentions, as a mention', async () => {
    await server.wants(alice, { newCommentOnMyVideo: NONE })
    const [silent, loud] = [await say(bob, video.uuid, 'To nobody'), await say(bob, video.uuid, 'Hello @alice')]
    const notified = await server.notificationsOf(alice)
    expect(ofComment(notified, silent)).toEqual([])
    expect(ofComment(notified, loud)).toMatchObject([{ type: MENTION }])
    await server.wants(alice, { newCommentOnMyVideo: WEB })
  })

  it('pending review notifies the owner as such, and mentioned users once it is approved', async () => {
    const held = await server.uploadBy(alice, { commentsPolicy: '3' })
    const id = await say(bob, held.uuid, 'What do you think, @dave?')
    expect(ofComment(await server.notificationsOf(alice), id)).toMatchObject([{ type: NEW_COMMENT, comment: { heldForReview: true } }])
    expect(ofComment(await server.notificationsOf(dave), id)).toEqual([])
    await alice.client.send('POST', `/api/v1/videos/${held.uuid}/comments/${id}/approve`)
    expect(ofComment(await server.notificationsOf(dave), id)).toMatchObject([{ type: MENTION }])
    expect(ofComment(await server.notificationsOf(alice), id)).toMatchObject([{ comment: { heldForReview: false } }])
  })

  it('that is removed, or on a hidden video, is removed from notifications', async () => {
    const hidden = await server.uploadBy(alice)
    const [one, other] = [await say(bob, hidden.uuid, '@dave one'), await say(bob, hidden.uuid, '@dave other')]
    expect(ofType(await server.notificationsOf(dave), MENTION).map(({ comment }) => comment?.id)).toEqual(
      expect.arrayContaining([one, other]),
    )
    await bob.client.send('DELETE', `/api/v1/videos/${hidden.uuid}/comments/${one}`)
    expect(ofComment(await server.notificationsOf(dave), one)).toEqual([])
    await change(alice, hidden.uuid, { privacy: `${PRIVATE}` })
    expect(ofComment(await server.notificationsOf(dave), other)).toEqual([])
    expect(ofComment(await server.notificationsOf(alice), other)).toHaveLength(1)
  })

  it('of a muted account notifies nobody, and earlier notifications are hidden during the mute', async () => {
    const before = await say(bob, video.uuid, 'Before')
    expect(ofComment(await server.notificationsOf(alice), before)).toHaveLength(1)
    await alice.client.send('POST', '/api/v1/users/me/blocklist/accounts', { accountName: 'bob' })
    const during = await say(bob, video.uuid, 'During, @alice')
    expect(ofComment(await server.notificationsOf(alice), before)).toEqual([])
    await alice.client.send('DELETE', '/api/v1/users/me/blocklist/accounts/bob')
    const notified = await server.notificationsOf(alice)
    expect(ofComment(notified, before)).toHaveLength(1)
    expect(ofComment(notified, during)).toEqual([])
  })

  it('does not notify a blocked user', async () => {
    await server.client.send('POST', `/api/v1/users/${dave.userId}/block`)
    const id = await say(bob, video.uuid, 'Where is @dave?')
    await server.quiet()
    expect(await server.query('select 1 from notification where user_id = $1 and comment_id = $2', [dave.userId, id])).toEqual([])
    await server.client.send('POST', `/api/v1/users/${dave.userId}/unblock`)
  })
})

describe('a flood of one type', () => {
  it('keeps the last notifications, pushes a limited number, and each is unread', async () => {
    const frank = await server.person('frank')
    const video = await server.uploadBy(frank)
    const said: number[] = []
    for (let nth = 0; nth < 9; nth += 1) {
      said.push(await say(bob, video.uuid, `number ${nth}`))
      await server.quiet()
    }
    const notified = await server.notificationsOf(frank)
    const shown = [0, 1, 2, 3, 8].map((nth) => said[nth])
    expect(notified.map(({ comment }) => comment?.id)).toEqual(shown.toReversed())
    expect(await server.notificationsOf(frank, '&unread=true')).toHaveLength(5)
    expect(await server.pushed(frank)).toHaveLength(5)

    // The same in a single batch.
    await server.query('delete from notification where user_id = $1', [frank.userId])
    await server.query(
      `insert into outbox (aggregate, aggregate_id, event, payload)
       select 'comment', id, 'CommentCreated', jsonb_build_object('commentId', id)
       from unnest($1::int[]) as said (id) order by id`,
      [said],
    )
    const again = await server.notificationsOf(frank)
    expect(again.map(({ comment }) => comment?.id)).toEqual(shown.toReversed())
    expect(await server.pushed(frank)).toHaveLength(10)
  })
})
