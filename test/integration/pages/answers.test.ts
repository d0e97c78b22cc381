// What forms answer without scripts: to a save that changes nothing, to a choice that is missing, and where a search finds nothing.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { toShortUuid } from '../../../src/platform/ids.ts'
import { type Browser, makeBrowser, partIn as part } from '../../support/browser.ts'
import { insert, makeVideo } from '../../support/builders.ts'
import { until } from '../../support/until.ts'
import { type MailNode, startMailNode } from '../registrations/node.ts'
import { addUser, loggedIn } from './users.ts'

let at: MailNode
let root: Browser
let maker: Browser
/** The path of the page on which the video is edited. */
let video: string
let videoId: number

beforeAll(async () => {
  at = await startMailNode({ config: { transcoding: { enabled: false } } })
  await Promise.all([addUser(at, 'maker', 2), addUser(at, 'loud', 2)])
  root = makeBrowser(at.node.base)
  await root.login(at.node.username, at.node.password)
  maker = await loggedIn(at, 'maker')
  const [channel] = await at.query<{ id: number }>(
    "select c.id from channel c join account a on a.id = c.account_id where a.name = 'maker'",
  )
  const made = await makeVideo(at, { channelId: channel?.id ?? 0, columns: { name: 'A heron' } })
  videoId = made.id
  video = `/my-library/videos/${toShortUuid(made.uuid)}`
})
afterAll(() => at?.stop())

/** The field of a page with the words about its problem. */
const problemIn = (html: string, id: string): string | undefined =>
  new RegExp(`id="${id}"[^>]* aria-invalid="true".*?<p class="problem" id="${id}-note">(.*?)</p>`, 's').exec(html)?.[1]

describe('a form that nobody changed', () => {
  it.each([
    ['/admin/setup', 'setup'],
    ['/admin/setup', 'mail'],
    ['/admin/config', 'config'],
    ['/admin/config?section=signup', 'config'],
    ['/my-account/profile', 'profile'],
  ])('is saved: %s, %s', async (path, name) => {
    const saved = await root.send(part((await root.open(path)).html, name))
    expect([saved.status, saved.path]).toEqual([200, `${path}${path.includes('?') ? '&' : '?'}done=${name}`])
    expect(saved.html).toContain('<p class="notice" role="status">Saved.</p>')
  })

  it('is no way around the login', async () => {
    const form = part((await root.open('/admin/config')).html, 'config')
    expect((await maker.send(form)).status).toBe(403)
  })
})

describe('a missing choice', () => {
  it('of a video to block is refused beside its field', async () => {
    const { html } = await root.open('/admin/video-blocks')
    expect(html).toMatch(/<label for="block-id">Video<\/label>\n<input id="block-id"[^>]* required/)
    const refused = await root.send(part(html, 'block'), { id: ' ', reason: 'Loud' })
    expect(refused.status).toBe(400)
    expect(problemIn(refused.html, 'block-id')).toBe('This is needed.')
    expect(part(refused.html, 'block').fields).toMatchObject({ reason: 'Loud' })
    expect(await at.query('select 1 from video_block')).toEqual([])
  })

  it('of the language of captions is refused beside its field', async () => {
    const { html } = await maker.open(video)
    expect(html).toMatch(/<select id="caption-captionLanguage"[^>]* required[^>]*><option value="" selected>Choose one<\/option>/)
    const bytes = new TextEncoder().encode('WEBVTT\n\n00:00.000 --> 00:01.000\nHello\n')
    const refused = await maker.sendFile(part(html, 'caption'), { field: 'captionfile', name: 'a.vtt', type: 'text/vtt', bytes })
    expect(refused.status).toBe(400)
    expect(problemIn(refused.html, 'caption-captionLanguage')).toBe('This is needed.')
  })

  it('of a playlist is refused beside its field', async () => {
    const { html } = await maker.open(`/w/${video.split('/').at(-1)}/take-part`)
    const refused = await maker.send(part(html, 'save'), { playlistId: '' })
    expect(refused.status).toBe(400)
    expect(problemIn(refused.html, 'save-playlistId')).toBe('This is needed.')
  })
})

describe('the configuration', () => {
  const found = async (query: string) => {
    const { html } = await root.open(`/admin/config?${query}`)
    const parts = [...html.matchAll(/name="part" value="(\w+)"/g)].map(([, name]) => name)
    return { parts, saysNothing: html.includes('<p class="soft">Nothing matches.</p>') }
  }

  it('says that a search found nothing, and shows no button then', async () => {
    expect(await found('search=zxzx')).toEqual({ parts: [], saysNothing: true })
  })

  it('shows mail and pictures where they are looked for', async () => {
    expect(await found('')).toEqual({ parts: ['config', 'mail', 'avatar', 'banner'], saysNothing: false })
    expect(await found('search=mail+server')).toEqual({ parts: ['mail'], saysNothing: false })
    expect(await found('search=smtp')).toMatchObject({ parts: expect.arrayContaining(['mail']) })
    expect(await found('section=mail')).toEqual({ parts: ['mail'], saysNothing: false })
    expect(await found('search=banner+of')).toEqual({ parts: ['banner'], saysNothing: false })
    expect(await found('section=signup')).toEqual({ parts: ['config'], saysNothing: false })
    expect(await found('section=instance')).toEqual({ parts: ['config', 'avatar', 'banner'], saysNothing: false })
  })
})

describe('the passwords of a protected video', () => {
  it('are shown to its owner, and kept by other changes', async () => {
    await at.query('update video set privacy = 5 where id = $1', [videoId])
    for (const password of ['open sesame', 'a <b>']) await insert(at, 'video_password', { video_id: videoId, password })
    const form = part((await maker.open(video)).html, 'details')
    expect(form.fields.videoPasswords?.split('\n').sort()).toEqual(['a <b>', 'open sesame'])
    expect((await maker.send(form, { tags: 'bird' })).status).toBe(200)
    expect(await at.query('select password from video_password order by password')).toEqual([
      { password: 'a <b>' },
      { password: 'open sesame' },
    ])
    await at.query('update video set privacy = 1 where id = $1', [videoId])
  })
})

describe('an account', () => {
  it('is reported and blocked from its page and those of its channels, by others', async () => {
    const link = '<a href="/a/loud/take-part" rel="nofollow">Report or block</a>'
    for (const path of ['/a/loud', '/c/loud_channel']) expect((await maker.open(path)).html).toContain(link)
    expect((await maker.open('/a/maker')).html).not.toContain('Report or block')
    expect((await makeBrowser(at.node.base).open('/a/loud/take-part')).path).toBe('/login?next=%2Fa%2Floud%2Ftake-part')
    const { html } = await maker.open('/a/loud/take-part')
    const reported = await maker.send(part(html, 'report'), { reason: 'Shouts all day' })
    expect(reported.html).toContain('Thank you. The moderators will look at it.')
    const report = "select kind, reportee_name as name from abuse where reason = 'Shouts all day'"
    expect(await at.query(report)).toEqual([{ kind: 'account', name: 'loud' }])
    const blocked = await maker.send(part(html, 'block'))
    expect(blocked.path).toBe('/my-account/blocklist')
    expect(blocked.html).toMatch(/<bdi>loud@[^<]*<\/bdi>/)
    expect((await maker.open('/a/nobody/take-part')).status).toBe(404)
  })
})

describe('messages about a report', () => {
  it('are linked from the notifications of both sides, each read by itself', async () => {
    const [{ id } = { id: 0 }] = await at.query<{ id: number }>('select id from abuse')
    const ofReport = () => at.query('select 1 from notification where abuse_id = $1', [id])
    await until(async () => (await ofReport())[0], { what: 'the notification of the report itself' })
    await at.query('delete from notification')
    for (const [name, key] of [
      ['maker', 'x'],
      [at.node.username, 'y'],
      [at.node.username, 'z'],
    ])
      await at.query(
        `insert into notification (user_id, type, key, on_web, abuse_id) select id, 16, $2, true, $3 from users where username = $1`,
        [name, key, id],
      )
    const path = '/my-account/notifications'
    expect((await maker.open(path)).html).toContain(`report number <a href="/my-account/abuses/${id}">${id}</a>.`)
    const { html } = await root.open(path)
    expect(html).toContain(`report number <a href="/admin/abuses/${id}">${id}</a>.`)
    const read = await root.send(part(html, 'read'))
    expect(read.path).toBe(`${path}?done=read`)
    expect(read.html).toContain('Marked as read.')
    expect([html, read.html].map((page) => page.split('>New</span>').length - 1)).toEqual([2, 1])
  })
})

describe('the lists of what is followed', () => {
  it('link to the channels', async () => {
    await maker.send(part((await maker.open('/my-library/subscriptions')).html, 'subscribe'), {
      uri: `loud_channel@${new URL(at.node.base).host}`,
    })
    const { html } = await maker.open('/my-library/subscriptions')
    const [, path = ''] = /<a href="([^"]*)"><bdi>loud_channel@/.exec(html) ?? []
    expect((await maker.open(path)).status).toBe(200)
  })
})

describe('a page with two lists', () => {
  it.each([
    ['the conversation about a report', async () => `/admin/abuses/${(await at.query<{ id: number }>('select id from abuse'))[0]?.id}`],
    [
      'notifications on two pages',
      async () => {
        await at.query(
          `insert into notification (user_id, type, key, on_web, application_version)
         select u.id, 18, n::text, true, '1' from users u, generate_series(1, 30) n where u.username = $1`,
          [at.node.username],
        )
        return '/my-account/notifications'
      },
    ],
  ])('names its parts differently: %s', async (_what, pathOf) => {
    const path = await pathOf()
    if (path.startsWith('/admin')) await root.send(part((await root.open(path)).html, 'message'), { message: 'What did you hear?' })
    const { html } = await root.open(path)
    for (const parts of [/<nav[^>]* aria-label="([^"]*)"/g, /role="region" aria-label="([^"]*)"/g]) {
      const names = [...html.matchAll(parts)].map(([, name]) => name)
      expect(names).toEqual([...new Set(names)])
    }
    expect(html).toContain(path.startsWith('/admin') ? 'aria-label="Messages"' : 'aria-label="Pages"')
  })
})
