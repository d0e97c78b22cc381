// Mails of notifications, from the row to the mailbox: contents, digests of floods, outages, and the unsubscribe link.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { notificationTypes } from '../../../src/actors/notification/index.ts'
import { toShortUuid } from '../../../src/platform/ids.ts'
import { insert, type MadeUser, type MadeVideo, makeRemoteChannel, makeUser, makeVideo } from '../../support/builders.ts'
import type { ReceivedMail } from '../../support/mail-server.ts'
import { until } from '../../support/until.ts'
import { applicant, type MailNode, startMailNode } from '../registrations/node.ts'

const WINDOW_MS = 600_000
const ADDRESS = 'owner@example.com'

let at: MailNode
let owner: { id: number; accountId: number; channelId: number; bearer: string }
let stranger: MadeUser
let video: MadeVideo

beforeAll(async () => {
  at = await startMailNode({ config: { instance: { name: 'Videos of cats' } } })
  expect((await at.ask('POST', '/users/register', applicant('owner'))).status).toBe(204)
  const bearer = `Bearer ${(await at.token('owner', 'a good password')).body.access_token}`
  const [row] = await at.query<Omit<typeof owner, 'bearer'>>(
    `select u.id, a.id as "accountId", c.id as "channelId" from users u join account a on a.user_id = u.id
       join channel c on c.account_id = a.id where u.username = 'owner'`,
  )
  if (!row) throw new Error('There is no owner.')
  owner = { ...row, bearer }
  stranger = await makeUser(at, { username: 'stranger' })
  video = await makeVideo(at, { channelId: owner.channelId, columns: { name: 'A walk' }, bare: true })
})
afterAll(() => at?.stop())

/** All notifications by mail, and no digest pending. */
beforeEach(async () => {
  // Left over from other tests.
  await at.query("delete from job where type = 'email' and state in ('delayed', 'waiting')")
  await settled()
  await at.query('delete from notification_mail_window')
  await at.query('delete from notification')
  await wish({ newCommentOnMyVideo: 3, newFollow: 3, myVideoPublished: 3 })
  at.mail.mails.length = 0
  at.mail.refuseWith = null
})

const wish = async (wishes: object, bearer = owner.bearer) => {
  const all = { ...(await settings(bearer)), ...wishes }
  expect((await at.ask('PUT', '/users/me/notification-settings', all, bearer)).status).toBe(204)
}

const jobs = () =>
  at.query<{ id: number; state: string; failures: number; data: Record<string, unknown> }>(
    "select id, state, failures, data from job where type = 'email' order by id desc",
  )
const settled = () =>
  until(async () => (await jobs()).every(({ state }) => state === 'completed' || state === 'failed'), {
    what: 'the end of all mails',
  })
/** Waits until all immediate mails are sent, and digests have their due time. */
const sentAtOnce = () =>
  until(async () => (await jobs()).every(({ state, data }) => state !== 'waiting' && state !== 'active' && data), {
    what: 'the mails of now',
  })

interface Told {
  type: keyof typeof notificationTypes
  userId?: number
  columns: Record<string, number | string>
}

/** Stores a notification and requests its mail, like `notify`. */
async function tell({ type, userId = owner.id, columns }: Told): Promise<number> {
  const id = await insert(at, 'notification', {
    user_id: userId,
    type: notificationTypes[type],
    key: JSON.stringify(columns),
    on_web: true,
    ...columns,
  })
  await ask(id)
  return id
}

const ask = (notificationId: number) =>
  at.query("insert into job (type, queue, data, max_attempts, due_at) values ('email', 'mail', $1, 5, $2)", [
    // Rows of `bigint` are strings here.
    { mail: 'notification', notificationId: Number(notificationId) },
    at.clock.now(),
  ])

const comment = (text: string, columns: object = {}) =>
  insert(at, 'comment', {
    video_id: video.id,
    account_id: stranger.accountId,
    url: `https://x.example/${Math.random()}`,
    text,
    ...columns,
  })

const commented = async (text: string) => tell({ type: 'newCommentOnMyVideo', columns: { comment_id: await comment(text) } })

const textOf = (mail: ReceivedMail | undefined): string => mail?.text.replaceAll('\r\n', '\n') ?? ''

/** The request of a mail client (RFC 8058). */
const click = (mail: ReceivedMail, method = 'POST') =>
  fetch(/<(http[^>]+)>/.exec(mail.headers['list-unsubscribe'] ?? '')?.[1] ?? '', {
    method,
    ...(method === 'POST' ? { body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }) } : {}),
  })

const settings = async (bearer = owner.bearer) => {
  const { body } = await at.ask('GET', '/users/me', undefined, bearer)
  return (body as unknown as { notificationSettings: Record<string, number> }).notificationSettings
}

describe('the mail of a notification', () => {
  it('names its cause, and has one link, a thread, and an unsubscribe header', async () => {
    const { body } = await at.token('owner', 'a good password')
    expect(body.access_token).toBeDefined()
    await at.ask('POST', '/users/register', applicant('visitor'))
    const visitor = `Bearer ${(await at.token('visitor', 'a good password')).body.access_token}`
    const path = `/videos/${video.id}/comment-threads`
    expect((await at.ask('POST', path, { text: 'Lovely.' }, visitor)).status).toBe(200)
    const mail = await at.mail.next(ADDRESS)
    const [thread] = await at.query<{ id: number }>("select id from comment where text = 'Lovely.'")
    expect(mail.subject).toMatch(/ New comment on your video “A walk”$/)
    expect(textOf(mail)).toContain(
      `visitor (visitor@${new URL(at.node.base).host}) commented on your video “A walk”:\n\n> Lovely.\n\nRead and reply:\n${at.node.base}/w/${toShortUuid(video.uuid)};threadId=${thread?.id}\n`,
    )
    const [job] = await jobs()
    const { hostname } = new URL(at.node.base)
    const about = `<comments-${toShortUuid(video.uuid)}@${hostname}>`
    expect(mail.headers).toMatchObject({
      'message-id': `<mail-${job?.id}@${hostname}>`,
      'in-reply-to': about,
      references: about,
      'auto-submitted': 'auto-generated',
      'list-unsubscribe-post': 'List-Unsubscribe=One-Click',
      date: expect.stringMatching(/\d{4}/),
    })
    expect(mail.headers).not.toHaveProperty('precedence')
    const unsubscribe = mail.headers['list-unsubscribe']?.slice(1, -1) ?? ''
    expect(textOf(mail)).toContain(`\nStop mails of this kind:\n${unsubscribe}\n`)
    expect(mail.html).toContain(`href="${unsubscribe}"`)
    // Nothing is loaded, and there are no other links.
    expect(mail.html).not.toMatch(/<img|src=|url\(/)
  })

  it('exists for every type, and names its subject', async () => {
    const root = (await at.query<{ id: number }>("select id from users where username = 'root'"))[0]?.id ?? 0
    const { channelId, accountId, host } = await makeRemoteChannel(at, { username: 'tom' })
    const running = await makeVideo(at, {
      channelId,
      columns: { name: 'Running', is_live: true },
      remoteOrigin: `https://${host}`,
      bare: true,
    })
    const remote = await makeVideo(at, {
      channelId,
      columns: { name: 'News' },
      remoteOrigin: `https://${host}`,
      bare: true,
    })
    const abuse = await insert(at, 'abuse', {
      url: 'https://x.example/abuse',
      object_url: video.url,
      kind: 'video',
      reason: 'Too loud.',
      reported_id: video.id,
      predefined_reasons: [1, 6],
      reporter_id: owner.accountId,
      reporter_name: 'owner',
      reporter_url: 'https://x.example/a',
      reportee_name: 'tom',
      reportee_url: `https://${host}/a`,
      video_name: 'A walk',
      video_uuid: video.uuid,
      state: 'rejected',
    })
    const message = await insert(at, 'abuse_message', { abuse_id: abuse, by_moderator: true, message: 'How loud?' })
    const blocked = await makeVideo(at, {
      channelId: owner.channelId,
      columns: { name: 'Blocked', blocked: true },
      bare: true,
    })
    const block = await insert(at, 'video_block', { video_id: blocked.id, type: 1, reason: 'Too loud.' })
    const [good, bad] = await Promise.all(
      [{ video_id: video.id }, {}].map((columns) =>
        insert(at, 'video_import', {
          user_id: owner.id,
          target_url: 'https://x.example/v',
          fields: '{}',
          state: 'done',
          ...columns,
        }),
      ),
    )
    const [instance] = await at.query<{ id: number }>("select id from actor where type = 'Application' limit 1")
    const actorOf = async (table: string, id: number) =>
      (await at.query<{ actor_id: number }>(`select actor_id from ${table} where id = $1`, [id]))[0]?.actor_id ?? 0
    const tom = await actorOf('account', accountId)
    const follow = (from: number, to: number, state = 'accepted') => insert(at, 'follow', { follower_id: from, target_id: to, state })
    const [ofUs, ofChannel] = [
      await follow(tom, instance?.id ?? 0, 'pending'),
      await follow(tom, await actorOf('channel', owner.channelId)),
    ]
    const byUs = await follow(instance?.id ?? 0, tom)
    const registration = await insert(at, 'registration', {
      state: 'requested',
      context: '{}',
      username: 'jerry',
      email: 'jerry@example.com',
      registration_reason: 'I like cats.',
    })
    const caption = await insert(at, 'video_caption', {
      video_id: video.id,
      language: 'fr',
      filename: 'a.vtt',
      automatically_generated: true,
      created_at: new Date(),
      updated_at: new Date(),
    })
    const plugin = await insert(at, 'plugin', {
      npm_name: 'peertube-plugin-example',
      state: 'enabled',
      version: '1.0.0',
      latest_version: '1.1.0',
      manifest: '{}',
      integrity: '',
      created_at: new Date(),
      updated_at: new Date(),
    })
    const text = '@owner look'
    const sent: [Told, string, string][] = [
      [
        { type: 'newVideoFromSubscription', columns: { video_id: remote.id } },
        `(tom_channel@${host}) published “News”.`,
        `/w/${toShortUuid(remote.uuid)}`,
      ],
      [
        { type: 'newLiveFromSubscription', columns: { video_id: running.id } },
        `(tom_channel@${host}) is live with “Running”.`,
        `/w/${toShortUuid(running.uuid)}`,
      ],
      [
        { type: 'newCommentOnMyVideo', columns: { comment_id: await comment(text, { held_for_review: true }) } },
        '> @owner look\n\nNobody else',
        '/my-library/comments-on-my-videos?search=heldForReview:true',
      ],
      [{ type: 'commentMention', columns: { comment_id: await comment(text) } }, 'mentioned you in a comment', ';threadId='],
      [
        { type: 'newAbuseForModerators', userId: root, columns: { abuse_id: abuse } },
        `owner@x.example reported the video “A walk” by tom@${host} (violent\nor repulsive, server rules):\n\n> Too loud.`,
        `/admin/moderation/abuses/list?search=%23${abuse}`,
      ],
      [
        { type: 'abuseStateChange', columns: { abuse_id: abuse } },
        `The moderators rejected your report #${abuse} about a video.`,
        `/my-account/abuses?search=%23${abuse}`,
      ],
      [
        { type: 'abuseNewMessage', columns: { abuse_id: abuse, abuse_message_id: message } },
        'The moderators wrote about your report',
        `/my-account/abuses?search=%23${abuse}`,
      ],
      [
        { type: 'abuseNewMessage', userId: root, columns: { abuse_id: abuse, abuse_message_id: message } },
        '> How loud?',
        `/admin/moderation/abuses/list?search=%23${abuse}`,
      ],
      [
        { type: 'videoAutoBlacklistForModerators', userId: root, columns: { video_block_id: block } },
        'The video “Blocked” by',
        '/admin/moderation/video-blocks/list',
      ],
      [{ type: 'blacklistOnMyVideo', columns: { video_block_id: block } }, '> Too loud.', `/w/${toShortUuid(blocked.uuid)}`],
      [{ type: 'unblacklistOnMyVideo', columns: { video_id: video.id } }, 'unblocked your video “A walk”', `/w/${toShortUuid(video.uuid)}`],
      [{ type: 'myVideoPublished', columns: { video_id: video.id } }, '“A walk” is ready and published.', `/w/${toShortUuid(video.uuid)}`],
      [
        { type: 'myVideoTranscriptionGenerated', columns: { video_caption_id: caption } },
        'Captions in French were made from the sound of your video',
        `/w/${toShortUuid(video.uuid)}`,
      ],
      [{ type: 'myVideoStudioEditionFinished', columns: { video_id: video.id } }, '“A\nwalk” is ready.', `/w/${toShortUuid(video.uuid)}`],
      [
        { type: 'myVideoImportSuccess', columns: { video_import_id: good ?? 0 } },
        'The import of https://x.example/v is finished',
        `/w/${toShortUuid(video.uuid)}`,
      ],
      [
        { type: 'myVideoImportError', columns: { video_import_id: bad ?? 0 } },
        'Your import of https://x.example/v failed.',
        '/my-library/video-imports',
      ],
      [
        { type: 'newUserRegistration', userId: root, columns: { account_id: stranger.accountId } },
        'stranger (stranger@',
        '/admin/overview/users/list',
      ],
      [
        { type: 'newUserRegistrationRequest', userId: root, columns: { registration_id: registration } },
        '> I like cats.',
        '/admin/moderation/registrations/list',
      ],
      [{ type: 'newFollow', columns: { follow_id: ofChannel } }, `tom (tom@${host}) subscribed to your channel`, '/my-library/followers'],
      [
        { type: 'newInstanceFollower', userId: root, columns: { follow_id: ofUs } },
        `tom (tom@${host}) requests to follow this server`,
        '/admin/settings/follows/followers-list',
      ],
      [
        { type: 'autoInstanceFollowing', userId: root, columns: { follow_id: byUs } },
        `This server now follows tom (tom@${host}),`,
        '/admin/settings/follows/following-list',
      ],
      [
        { type: 'newPluginVersion', userId: root, columns: { plugin_id: plugin } },
        'Version 1.1.0 of peertube-plugin-example',
        '/admin/settings/plugins/list-installed',
      ],
      [{ type: 'newPeerTubeVersion', userId: root, columns: { application_version: '2.0.0' } }, 'Version 2.0.0 of the software', '/admin/'],
    ]
    const all = Object.fromEntries(Object.keys(await settings()).map((name) => [name, 3]))
    await wish(all)
    await wish(all, at.root)
    for (const [one] of sent) await tell(one)
    await settled()
    const texts = at.mail.mails.map((mail) => `${mail.to} ${textOf(mail)}`.replace(/\s+/g, ' '))
    expect(texts).toHaveLength(sent.length)
    for (const [{ type, userId }, words, link] of sent) {
      const to = userId === root ? 'admin@example.com' : ADDRESS
      const found = texts.filter((mail) => mail.startsWith(to) && mail.includes(words.replace(/\s+/g, ' ')) && mail.includes(link))
      expect([type, found.length]).toEqual([type, 1])
    }
  })

  it('is not sent when its type was disabled, or nothing is left to show', async () => {
    await wish({ newCommentOnMyVideo: 1 })
    await commented('not by mail')
    await settled()
    await wish({ newCommentOnMyVideo: 3 })
    await tell({
      type: 'newCommentOnMyVideo',
      columns: { comment_id: await comment('gone', { deleted_at: at.clock.now() }) },
    })
    // The recipient is no longer a moderator.
    await tell({
      type: 'newAbuseForModerators',
      columns: { abuse_id: (await at.query<{ id: number }>('select id from abuse'))[0]?.id ?? 0 },
    })
    await at.query("update users set state = 'blocked' where id = $1", [owner.id])
    await tell({ type: 'myVideoPublished', columns: { video_id: video.id } })
    await ask(424242)
    await settled()
    await at.query("update users set state = 'active' where id = $1", [owner.id])
    expect(at.mail.mails).toEqual([])
  })

  it('about a report contains only the last decision', async () => {
    const reported = {
      kind: 'video',
      reason: 'Too loud.',
      reported_id: video.id,
      video_id: video.id,
      state: 'accepted',
    }
    const abuse = await insert(at, 'abuse', {
      url: 'https://x.example/decided',
      object_url: 'https://x.example/v',
      reporter_id: owner.accountId,
      reporter_name: 'owner',
      reporter_url: 'https://x.example/accounts/owner',
      reportee_name: 'tom',
      reportee_url: 'https://x.example/accounts/tom',
      ...reported,
    })
    const sent = { type: notificationTypes.abuseStateChange, user_id: owner.id, on_web: true, abuse_id: abuse }
    const first = await insert(at, 'notification', { ...sent, key: '1' })
    const last = await insert(at, 'notification', { ...sent, key: '2' })
    for (const id of [first, last]) await ask(id)
    await sentAtOnce()
    expect(at.mail.mails.map(({ text }) => text.includes('accepted your report'))).toEqual([true])
    expect(await jobs()).not.toContainEqual(expect.objectContaining({ state: 'delayed' }))
  })
})

describe('a flood', () => {
  it('of hundreds of comments in a minute is two mails', async () => {
    await at.query(
      `with said as (
         insert into comment (video_id, account_id, url, text)
         select $1, $2, 'https://flood.example/' || n, 'Flood ' || n from generate_series(1, 300) n returning id
       ), told as (
         insert into notification (user_id, type, key, on_web, comment_id)
         select $3, 2, id::text, true, id from said returning id
       ) insert into job (type, queue, data, max_attempts, due_at)
         select 'email', 'mail', jsonb_build_object('mail', 'notification', 'notificationId', id), 5, $4 from told`,
      [video.id, stranger.accountId, owner.id, at.clock.now()],
    )
    await sentAtOnce()
    expect(at.mail.mails).toHaveLength(1)
    expect(textOf(at.mail.mails[0])).toMatch(/> Flood \d+\n/)

    at.clock.pass(WINDOW_MS)
    await settled()
    expect(at.mail.mails).toHaveLength(2)
    const digest = at.mail.mails[1]
    expect(digest?.subject).toMatch(/ 299 new comments on your videos$/)
    expect(textOf(digest).match(/^\* stranger /gm)).toHaveLength(20)
    expect(textOf(digest)).toContain('\nand 279 more\n')
    expect(digest?.headers.references).toContain(`<comments-${toShortUuid(video.uuid)}@`)

    // Nothing is left, and nothing is due.
    at.clock.pass(WINDOW_MS)
    await commented('Calm.')
    await settled()
    expect(at.mail.mails).toHaveLength(3)
    expect(textOf(at.mail.mails[2])).toContain('> Calm.')
  })

  it('is one mail for each type, and later notifications wait again', async () => {
    await commented('one')
    await sentAtOnce()
    await commented('two')
    await tell({ type: 'myVideoPublished', columns: { video_id: video.id } })
    await sentAtOnce()
    expect(at.mail.mails.map(({ subject }) => subject.replace(/^\S+ /, '')).toSorted()).toEqual([
      'New comment on your video “A walk”',
      'Your video “A walk” was published',
    ])
    at.clock.pass(WINDOW_MS)
    await settled()
    // A single notification of a digest is an ordinary mail.
    expect(textOf(at.mail.mails[2])).toContain('> two')
    await commented('three')
    await sentAtOnce()
    expect(at.mail.mails).toHaveLength(3)
    at.clock.pass(WINDOW_MS)
    await settled()
    expect(textOf(at.mail.mails[3])).toContain('> three')
  })

  it('loses and repeats nothing when the process dies in between, and the queue is wiped', async () => {
    await commented('one')
    await sentAtOnce()
    await commented('two')
    await commented('three')
    await sentAtOnce()
    const digest = (await jobs()).find(({ data }) => data.mail === 'notifications')
    expect(digest).toMatchObject({ state: 'delayed', data: { mail: 'notifications' } })
    // The state after a crash before the mail was sent: its notifications are claimed.
    await at.query('update notification set mail_waits = false, mail_job = $1 where mail_waits', [digest?.id])
    await at.query("update notification_mail_window set closes_at = closes_at + interval '10 minutes'")
    await commented('four')
    await at.node.restart()
    at.clock.pass(WINDOW_MS)
    await sentAtOnce()
    at.clock.pass(WINDOW_MS)
    await settled()
    const texts = at.mail.mails.map(textOf)
    for (const word of ['one', 'two', 'three', 'four']) {
      expect([word, texts.filter((text) => new RegExp(`[>:] ${word}$`, 'm').test(text)).length]).toEqual([word, 1])
    }
    // The state after a crash after that: the same job again.
    await at.query("update job set state = 'waiting' where id = $1", [digest?.id])
    await settled()
    expect(at.mail.mails).toHaveLength(texts.length)
  })

  it('is not lost when the job of its mail failed permanently', async () => {
    await commented('one')
    await sentAtOnce()
    await commented('two')
    await sentAtOnce()
    await at.query("update job set state = 'failed' where data ->> 'mail' = 'notifications' and state = 'delayed'")
    at.clock.pass(WINDOW_MS)
    await at.node.restart()
    await until(() => at.mail.mails.length === 2)
    expect(textOf(at.mail.mails[1])).toContain('> two')
  })

  it('is not lost when the mail server repeatedly refused its mail', async () => {
    await commented('one')
    await sentAtOnce()
    await commented('two')
    await sentAtOnce()
    at.mail.refuseWith = 451
    at.clock.pass(WINDOW_MS)
    const refused = "data ->> 'mail' = 'notifications' and state = 'delayed' and error like '%451%'"
    await until(async () => (await at.query(`select 1 from job where ${refused}`)).length === 1)
    await at.query(`update job set state = 'failed' where ${refused}`)
    at.mail.refuseWith = null
    at.clock.pass(3_600_000)
    await at.node.restart()
    await until(() => at.mail.mails.length === 2)
    expect(textOf(at.mail.mails[1])).toContain('> two')
  })

  it('waits for the end of an outage, without a failure, and is two mails then too', async () => {
    at.mail.refuseWith = 421
    await commented('one')
    await until(async () => (await jobs())[0]?.state === 'delayed')
    for (const word of ['two', 'three']) {
      await commented(word)
      await sentAtOnce()
      at.clock.pass(WINDOW_MS)
      await until(async () => (await jobs()).every(({ state }) => state !== 'waiting' && state !== 'active'))
    }
    const waiting = (await jobs()).filter(({ state }) => state === 'delayed')
    expect(waiting.length).toBeGreaterThan(1)
    expect(waiting.map(({ failures }) => failures)).toEqual(waiting.map(() => 0))
    at.mail.refuseWith = null
    for (let turn = 0; turn < 3; turn += 1) {
      at.clock.pass(WINDOW_MS)
      await until(async () => (await jobs()).every(({ state }) => state !== 'waiting' && state !== 'active'))
    }
    await settled()
    expect(at.mail.mails).toHaveLength(2)
    expect(at.mail.mails.map(({ subject }) => subject.replace(/^\S+ /, '')).toSorted()).toEqual([
      '2 new comments on your videos',
      'New comment on your video “A walk”',
    ])
  })

  it('to a permanently refused address is tried once', async () => {
    at.mail.refuseWith = 550
    const tries = at.mail.tries
    await commented('one')
    await until(async () => (await jobs())[0]?.state === 'failed')
    await commented('two')
    await commented('three')
    at.clock.pass(1000)
    await sentAtOnce()
    expect(at.mail.tries - tries).toBe(1)
    at.clock.pass(WINDOW_MS)
    await settled()
    expect(at.mail.tries - tries).toBe(2)
  })
})

describe('the unsubscribe link', () => {
  it('changes nothing when it is opened, and only its own setting when it is confirmed', async () => {
    await commented('one')
    const mail = await at.mail.next(ADDRESS)
    const before = await settings()
    const page = await click(mail, 'GET')
    expect(page.status).toBe(200)
    const shown = await page.text()
    expect(shown).toContain('You get mails about: Comments on your videos')
    expect(shown).toContain('<form method="post">')
    expect(page.headers.get('content-security-policy')).toContain("form-action 'self'")
    expect(page.headers.get('cache-control')).toBe('no-store')
    expect(page.headers.get('referrer-policy')).toBe('no-referrer')
    expect((await click(mail, 'HEAD')).status).toBe(200)
    expect(await settings()).toEqual(before)

    await commented('two')
    await sentAtOnce()
    expect((await click(mail)).status).toBe(200)
    expect(await settings()).toEqual({ ...before, newCommentOnMyVideo: 1 })
    expect(await (await click(mail, 'GET')).text()).toContain('You get no mails about: Comments on your videos')
    expect((await click(mail)).status).toBe(200)
    // Pending mails are not sent any more.
    at.clock.pass(WINDOW_MS)
    await settled()
    expect(at.mail.mails).toHaveLength(1)
  })

  it('accepts the other form encoding of mail clients too', async () => {
    await commented('one')
    const mail = await at.mail.next(ADDRESS)
    const form = new FormData()
    form.append('List-Unsubscribe', 'One-Click')
    const url = mail.headers['list-unsubscribe']?.slice(1, -1) ?? ''
    expect((await fetch(url, { method: 'POST', body: form })).status).toBe(200)
    expect((await settings()).newCommentOnMyVideo).toBe(1)
  })

  it('is invalid for other users, types and addresses', async () => {
    await commented('one')
    const mail = await at.mail.next(ADDRESS)
    const url = mail.headers['list-unsubscribe']?.slice(1, -1) ?? ''
    const before = await settings()
    const [signature = '', setting = '', userId = ''] = url.split('/').toReversed()
    const others = [
      url.slice(0, -1),
      url.replace(
        signature,
        signature.replace(/./g, (digit) => (digit === 'a' ? 'b' : 'a')),
      ),
      url.replace(setting, 'newFollow'),
      url.replace(setting, 'constructor'),
      url.replace(`/${userId}/`, '/1/'),
      url.replace(`/${userId}/`, '/424242/'),
      url.replace(`/${userId}/`, '/99999999999/'),
      url.replace(`/${userId}/`, '/x/'),
    ]
    for (const other of others) {
      for (const method of ['GET', 'POST']) {
        const answer = await fetch(other, { method })
        expect([other, answer.status]).toEqual([other, 404])
        expect(await answer.text()).toContain('This link is of no use any more')
      }
    }
    await at.query("update users set email = 'new@example.com' where id = $1", [owner.id])
    expect((await click(mail)).status).toBe(404)
    await at.query('update users set email = $2 where id = $1', [owner.id, ADDRESS])
    expect(await settings()).toEqual(before)
  })
})

it('mails without an opt-out have no such link', async () => {
  await at.ask('POST', '/users/ask-reset-password', { email: ADDRESS })
  const mail = await at.mail.next(ADDRESS)
  expect(mail.subject).toMatch(/Reset the password/)
  expect(Object.keys(mail.headers).filter((name) => name.startsWith('list-'))).toEqual([])
})
