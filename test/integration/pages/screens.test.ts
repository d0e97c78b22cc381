// Screens for creating, editing and administering content without scripts. Permissions, limits and errors are those of the API.

import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { screens } from '../../../src/http/pages/screens/screens.ts'
import { type Browser, formIn, linksIn, makeBrowser, partIn as part, SURE } from '../../support/browser.ts'
import { makeRemoteChannel } from '../../support/builders.ts'
import { hostileTexts } from '../../support/hostile-texts.ts'
import { media } from '../../support/media.ts'
import { until } from '../../support/until.ts'
import { type MailNode, startMailNode } from '../registrations/node.ts'
import { addUser, loggedIn, PASSWORD } from './users.ts'

const PLAIN = screens.filter(({ path }) => !path.includes(':'))

let at: MailNode
let root: Browser
let maker: Browser
let moderator: Browser

beforeAll(async () => {
  at = await startMailNode({
    config: {
      import: { videos: { http: { enabled: true }, torrent: { enabled: true } } },
      transcoding: { enabled: false },
      video_file: { update: { enabled: true } },
      // Set by the environment.
      instance__business_model: 'Gifts',
      rates_limit: { login: { max: 1000 } },
    },
  })
  await Promise.all([addUser(at, 'maker', 2), addUser(at, 'judge', 1), addUser(at, 'reader', 2), addUser(at, 'stranger', 2)])
  await makeRemoteChannel(at, { host: 'loud.example', username: 'loud' })
  root = makeBrowser(at.node.base)
  await root.login(at.node.username, at.node.password)
  maker = await loggedIn(at, 'maker')
  moderator = await loggedIn(at, 'judge')
})
afterAll(() => at?.stop())

async function upload(name: string): Promise<string> {
  const page = await maker.open('/videos/upload')
  const channelId = /<select id="upload-channelId".*?<option value="(\d+)"/s.exec(page.html)?.[1] ?? ''
  const form = part(page.html, 'upload')
  const fields = { ...form.fields, name, channelId, privacy: '1' }
  const bytes = await readFile(await media('small.mp4'))
  const done = await maker.sendFile({ ...form, fields }, { field: 'videofile', name: 'small.mp4', type: 'video/mp4', bytes })
  expect({ status: done.status, path: done.path }).toEqual({ status: 200, path: expect.stringMatching(/^\/my-library\/videos\/\w+$/) })
  return done.path.split('/').at(-1) ?? ''
}

describe('each screen', () => {
  it.each(PLAIN.map(({ path }) => path))('requires a login, and is 200 or 403 for each role: %s', async (path) => {
    const visitor = makeBrowser(at.node.base)
    expect((await visitor.open(path)).path).toBe(`/login?next=${encodeURIComponent(path)}`)
    const statuses = await Promise.all([maker, moderator, root].map(async (browser) => (await browser.open(path)).status))
    expect(statuses).toEqual(path.startsWith('/admin/') ? [403, expect.any(Number), 200] : [200, 200, 200])
    const menu = (await moderator.open('/admin/abuses')).html
    if (!path.includes(':') && statuses[1] === 403) expect(menu).not.toContain(`href="${path}"`)
    expect([200, 403]).toContain(statuses[1])
  })

  it.each(PLAIN.map(({ path }) => path))('refuses forms of other sites and without a token: %s', async (path) => {
    const { html } = await root.open(path)
    for (const [form] of html.split('<footer>')[0]?.matchAll(/<form[^>]*method="post"[^>]*>.*?<\/form>/gs) ?? []) {
      const sent = formIn(form, /action="([^"]*)"/.exec(form)?.[1] ?? path)
      expect((await root.send(sent, {}, { origin: 'https://evil.example' })).status).toBe(403)
      expect((await root.send(sent, { token: 'f00' })).status).toBe(403)
    }
  })
})

describe('a user without a script', () => {
  it('uploads a video, edits it, adds chapters and captions, and deletes it', async () => {
    const id = await upload('A heron')
    const path = `/my-library/videos/${id}`
    let page = await maker.open(path)
    const details = part(page.html, 'details')
    page = await maker.send(details, { name: 'A grey heron', tags: 'bird, lake', language: 'en', commentsPolicy: '1' })
    expect(page.path).toBe(`${path}?done=details`)
    expect(page.html).toContain('Saved.')
    expect(page.html).toContain('value="bird, lake"')
    page = await maker.send(part(page.html, 'details'), { name: 'x', tags: 'bird, lake' })
    expect(page.status).toBe(400)
    expect(page.html).toContain('between 3 and 120 characters')
    expect(page.html).toContain('value="x"')
    page = await maker.open(`${path}/chapters`)
    page = await maker.send(part(page.html, 'chapters'), { chapters: '0:00 Standing\n0:01 Flying' })
    expect(page.path).toBe(`${path}/chapters?done=chapters`)
    expect(page.html).toContain('0:00 Standing\n0:01 Flying')
    expect((await maker.send(part(page.html, 'chapters'), { chapters: 'nonsense' })).status).toBe(400)
    page = await maker.open(path)
    expect(linksIn(page.html, 'Chapters')).toEqual([`${path}/chapters`])
    const vtt = new TextEncoder().encode('WEBVTT\n\n00:00.000 --> 00:01.000\nHello\n')
    const captions = part(page.html, 'caption')
    const file = { field: 'captionfile', name: 'a.vtt', type: 'text/vtt', bytes: vtt }
    page = await maker.sendFile({ ...captions, fields: { ...captions.fields, captionLanguage: 'en' } }, file)
    expect(page.path).toBe(`${path}?done=caption`)
    expect(page.html).toContain('Remove')
    const statistics = await maker.open(`${path}/statistics`)
    expect(statistics.status).toBe(200)
    page = await maker.send(part(page.html, 'delete'), SURE)
    expect(page.path).toBe('/my-library/videos')
    expect((await maker.open(`/w/${id}`)).status).toBe(404)
  })

  it('sets a schedule, keeps it on other saves, changes and removes it', async () => {
    const path = `/my-library/videos/${await upload('A crane')}`
    const kept = async () =>
      await at.query("select s.update_at, s.privacy from video_schedule s join video v on v.id = s.video_id where v.name like 'A%crane'")
    const save = async (typed: Record<string, string>) => await maker.send(part((await maker.open(path)).html, 'details'), typed)
    const moment = '2127-03-01T10:30'
    expect((await save({ 'scheduleUpdate.updateAt': moment, 'scheduleUpdate.privacy': '2' })).path).toBe(`${path}?done=details`)
    const schedule = { update_at: new Date(`${moment}:00Z`), privacy: 2 }
    expect(await kept()).toEqual([schedule])
    expect((await maker.open(path)).html).toContain(`value="${moment}"`)
    await save({ tags: 'bird' })
    expect(await kept()).toEqual([schedule])
    await save({ 'scheduleUpdate.privacy': '1' })
    expect(await kept()).toEqual([{ ...schedule, privacy: 1 }])
    await save({ 'scheduleUpdate.updateAt': '' })
    expect(await kept()).toEqual([])
  })

  it('keeps in one tab what was changed in another, also after a refusal', async () => {
    const path = `/my-library/videos/${await upload('A coot')}`
    const tab = part((await maker.open(path)).html, 'details')
    await maker.send(tab, { name: 'A black coot', tags: 'bird', nsfw: 'true' })
    const refused = await maker.send(tab, { language: 'en', support: 'x' })
    expect({ status: refused.status, name: part(refused.html, 'details').fields.name }).toEqual({ status: 400, name: 'A coot' })
    expect((await maker.send(part(refused.html, 'details'), { language: 'en', support: 'By boat' })).path).toBe(`${path}?done=details`)
    expect(await at.query("select name, tags, nsfw, language, support from video where name like 'A%coot'")).toEqual([
      { name: 'A black coot', tags: ['bird'], nsfw: true, language: 'en', support: 'By boat' },
    ])
    const channel = '/my-library/video-channels/maker_channel'
    const stale = part((await maker.open(channel)).html, 'channel')
    await maker.send(stale, { displayName: 'Coots' })
    await maker.send(stale, { description: 'Of the pond' })
    const { html } = await maker.open(channel)
    expect(part(html, 'channel').fields).toMatchObject({ displayName: 'Coots', description: 'Of the pond' })
    expect(part(html, 'videos').fields).toHaveProperty('username')
    expect(html).toContain('A black coot')
  })

  it('likes, comments, replies, saves, reports, subscribes, and deletes an own comment', async () => {
    const id = await upload('A swan')
    const reader = await loggedIn(at, 'reader')
    const path = `/w/${id}`
    const open = async () => (await reader.open(path)).html
    expect(part(await open(), 'rate').fields.rating).toBe('like')
    let page = await reader.send(part(await open(), 'rate'))
    expect(page.path).toBe(path)
    expect(page.html).toContain('aria-pressed="true"')
    expect(part(page.html, 'rate').fields.rating).toBe('none')
    expect((await reader.send(part(page.html, 'rate'))).html).not.toContain('aria-pressed="true"')
    expect((await reader.send(part(await open(), 'comment'), { text: '  ' })).status).toBe(400)
    page = await reader.send(part(await open(), 'comment'), { text: 'How *white*', preview: 'true' })
    expect(page.html).toContain('<em>white</em>')
    expect(part(page.html, 'comment').fields.text).toBe('How *white*')
    page = await reader.send(part(page.html, 'comment'), { text: 'How **white** it is!' })
    expect(page.path).toBe(path)
    expect(page.html).not.toContain('<em>white</em>')
    expect(page.html).toContain('<strong>white</strong>')
    const [, comment = ''] = /href="(\/w\/\w+\/comments\/\d+\/\d+)"/.exec(page.html) ?? []
    page = await maker.open(comment)
    expect(page.html).toContain('How <strong>white</strong> it is!')
    page = await maker.send(part(page.html, 'reply'), { text: 'Indeed.' })
    expect(page.html).toContain('Indeed.')
    page = await maker.send(part((await maker.open(comment)).html, 'report'), { reason: 'It is not white.', predefinedReasons: 'rights' })
    expect(page.path).toBe(`${comment}?done=report`)
    const [{ id: playlistId } = { id: 0 }] = await at.query<{ id: number }>(
      "select p.id from playlist p join account a on a.id = p.account_id join users u on u.id = a.user_id where u.username = 'reader'",
    )
    page = await reader.send(part((await reader.open(`${path}/take-part`)).html, 'save'), { playlistId: String(playlistId) })
    expect(page.html).toContain('It is in the playlist.')
    page = await reader.send(part((await reader.open(`${path}/take-part`)).html, 'report'), { reason: 'No swan' })
    expect(page.html).toContain('Thank you.')
    const subscribe = formIn(await open(), '/subscriptions')
    const { html } = await reader.send(subscribe)
    expect(html).toContain('Unsubscribe')
    expect(html).toMatch(/\b1\ssubscriber</)
    page = await maker.open('/my-library/followers')
    const [, follower = ''] = /name="act" value="remove (\d+)"/.exec(page.html) ?? []
    expect((await at.ask('DELETE', `/vireo/followers/${follower}`, undefined, at.root)).status).toBe(404)
    expect((await maker.send(part(page.html, 'followers'), { act: `remove ${follower}`, ...SURE })).html).toContain('No followers yet.')
    expect(await open()).not.toContain('Unsubscribe')
    // Only its author, the owner and the staff see the delete button.
    const stranger = await loggedIn(at, 'stranger')
    expect((await stranger.open(comment)).html).not.toContain('Delete the comment')
    const form = part((await reader.open(comment)).html, 'delete')
    expect(
      (
        await stranger.send({
          ...form,
          fields: { ...form.fields, ...SURE, token: part((await stranger.open(comment)).html, 'reply').fields.token ?? '' },
        })
      ).status,
    ).toBe(403)
    expect((await reader.send(form, SURE)).html).not.toContain('<strong>white</strong>')
    const visitor = makeBrowser(at.node.base)
    expect((await visitor.open(path)).html).toContain(`${path}/take-part`)
    expect((await visitor.open(comment)).path).toContain('/login?next=')
  })

  it('logs in again where a form was, as it was narrowed down', async () => {
    const id = await upload('A stork')
    for (const [path, name, typed] of [
      [`/w/${id}/take-part`, 'comment', { text: 'Hello' }],
      ['/my-library/video-playlists?playlists.page=2', 'new', { displayName: 'Later', privacy: '3' }],
      ['/my-library/videos?videos.search=stork', 'videos', { act: 'delete 1' }],
    ] as const) {
      const [elsewhere, reader] = [await loggedIn(at, 'reader'), await loggedIn(at, 'reader')]
      const form = part((await maker.open(path)).html, name)
      const token = part((await reader.open('/my-account/profile')).html, 'profile').fields.token ?? ''
      const [{ id: session } = { id: 0 }] = await at.query<{ id: number }>(
        "select s.id from session s join users u on u.id = s.user_id where u.username = 'reader' order by s.id desc limit 1",
      )
      await elsewhere.send(part((await elsewhere.open('/my-account/sessions')).html, 'sessions'), { act: `end ${session}`, ...SURE })
      const login = await reader.send({ ...form, fields: { ...form.fields, token } }, typed)
      expect(login.path).toBe(`/login?next=${encodeURIComponent(path)}`)
      const back = await reader.send(formIn(login.html, '/login'), { username: 'reader', password: PASSWORD })
      expect({ status: back.status, path: back.path }).toEqual({ status: 200, path })
    }
  })

  it('creates a channel, a playlist and a live, and imports', async () => {
    let page = await maker.send(part((await maker.open('/my-library/video-channels')).html, 'new'), {
      name: 'Bad name',
      displayName: 'Birds',
    })
    expect(page.status).toBe(400)
    expect(page.html).toContain('value="Bad name"')
    page = await maker.send(part(page.html, 'new'), { name: 'birds', displayName: 'Birds' })
    expect(page.html).toContain('/my-library/video-channels/birds')
    page = await maker.open('/my-library/video-channels/birds')
    page = await maker.send(part(page.html, 'channel'), { displayName: 'All birds', description: 'Of the lake' })
    expect(page.html).toContain('All birds')
    page = await maker.send(part((await maker.open('/my-library/video-playlists')).html, 'new'), { displayName: 'Later', privacy: '3' })
    expect(page.path).toMatch(/^\/my-library\/video-playlists\/\w+$/)
    page = await maker.send(part((await maker.open('/videos/import')).html, 'import'), { targetUrl: 'nonsense', channelId: '1' })
    expect(page.status).toBe(400)
    page = await maker.open('/my-library/video-channels')
    page = await maker.send(part(page.html, 'channels'), { act: 'delete birds', ...SURE })
    expect(page.html).toContain('Delete: 1 done.')
    expect(page.html).not.toContain('All birds')
  })

  it('is told at the field that a file is needed, and nothing changes', async () => {
    const path = `/my-library/videos/${await upload('A goose')}`
    const none = { name: '', type: 'application/octet-stream', bytes: new Uint8Array() }
    const thumbnails = () => at.query('select updated_at from video where name = $1', ['A goose'])
    const before = await thumbnails()
    const { html } = await maker.open(path)
    for (const [name, field, typed] of [
      ['thumbnail', 'thumbnailfile', {}],
      ['caption', 'captionfile', { captionLanguage: 'en' }],
    ] as const) {
      const { action, method, fields } = part(html, name)
      const form = { action, method, fields: { ...Object.fromEntries(Object.entries(fields).filter(([one]) => one !== field)), ...typed } }
      for (const page of [await maker.sendFile(form, { field, ...none }), await maker.sendForm(form), await maker.send(form)]) {
        expect(page.status).toBe(400)
        expect(page.html).toMatch(
          new RegExp(`name="${field}"[^>]*aria-invalid="true"[^>]*><p class="problem"[^>]*>A (picture|file) is needed.`),
        )
        expect(page.html).not.toContain('Saved.')
      }
    }
    expect(await thumbnails()).toEqual(before)
    for (const [at, name, said] of [
      ['/my-account/profile', 'avatar', 'A picture is needed.'],
      ['/my-account/import-export', 'import', 'A file is needed.'],
      ['/videos/upload', 'upload', 'A file is needed.'],
      ['/my-library/video-channels/maker_channel', 'banner', 'A picture is needed.'],
    ] as const) {
      const page = await maker.sendForm(part((await maker.open(at)).html, name))
      expect({ at, status: page.status, isSaid: page.html.includes(said) }).toEqual({ at, status: 400, isSaid: true })
    }
  })

  it('edits a video in the studio, where it is enabled', async () => {
    const path = `/my-library/videos/${await upload('A heron')}`
    expect((await maker.open(`${path}/studio`)).html).toContain('This server does not edit videos.')
    const studio = (enabled: boolean) => at.ask('PUT', '/config/custom', { transcoding: { enabled }, videoStudio: { enabled } }, at.root)
    expect((await studio(true)).status).toBe(200)
    try {
      const { html } = await maker.open(`${path}/studio`)
      const cut = part(html, 'cut')
      const none = await maker.sendForm({ ...cut, fields: { ...cut.fields, ...SURE, 'tasks[0][options][start]': '500' } })
      expect(none.status).toBe(400)
      const page = await maker.sendForm({ ...cut, fields: { ...cut.fields, ...SURE, 'tasks[0][options][end]': '1' } })
      expect({ status: page.status, path: page.path }).toEqual({ status: 200, path })
      await until(
        async () => (await at.query<{ duration: number }>("select duration from video where name = 'A heron'"))[0]?.duration === 1,
      )
      for (const name of ['add-intro', 'add-outro', 'add-watermark']) expect(part(html, name).fields['tasks[0][name]']).toBe(name)
    } finally {
      await studio(false)
    }
  })

  it('replaces the file of a video in chunks', async () => {
    const path = `/my-library/videos/${await upload('A goose')}`
    const { html } = await maker.open(`${path}/source`)
    const [, pieces = ''] = /data-upload="([^"]*)"/.exec(html) ?? []
    expect(pieces).toBe(`${path}/source/pieces`)
    const bytes = await readFile(await media('blue.mp4'))
    const cookie = [...maker.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const send = (token: string | undefined, query: string, init: RequestInit) =>
      fetch(`${at.node.base}${init.method === 'POST' ? `${path}/source` : pieces}${query}`, {
        ...init,
        redirect: 'manual',
        headers: { ...init.headers, cookie, origin: at.node.base, 'x-form-token': token ?? '' },
      })
    const { token = '' } = part(html, 'replace').fields
    const opening = (filename: string, typed: Record<string, string> = {}) => ({
      method: 'POST',
      body: new URLSearchParams({ token, part: 'replace', filename, fileId: 'a file', ...typed }),
      headers: { 'x-upload-content-length': `${bytes.length}`, 'x-upload-content-type': 'video/mp4' },
    })
    const forged = await send('', '', opening('goose.mp4', { token: 'f00' }))
    expect([forged.status, forged.headers.get('x-upload-id')]).toEqual([403, null])
    // As for a session that has ended: the script leads to the login.
    expect((await send('f00', '?upload_id=1', { method: 'PUT', headers: { 'content-range': 'bytes */1' } })).status).toBe(401)
    const text = opening('goose.txt')
    const refused = await send(token, '', { ...text, headers: { ...text.headers, 'accept-language': 'de' } })
    expect(await refused.text()).toContain('role="alert">Diese Datei wird nicht unterstützt. Erlaubte Typen: .webm, .ogv, .mp4<')
    const opened = await send(token, '', opening('goose.mp4'))
    const id = opened.headers.get('x-upload-id')
    expect([opened.status, await opened.text()]).toEqual([201, ''])
    const headers = { 'content-range': `bytes 0-${bytes.length - 1}/${bytes.length}` }
    const last = await send(token, `?upload_id=${id}`, { method: 'PUT', body: new Uint8Array(bytes), headers })
    expect([last.status, await last.json()]).toEqual([200, expect.objectContaining({ inputFilename: 'goose.mp4' })])
  })

  it('sees hostile text as text', async () => {
    const name = hostileTexts.join(' ').slice(0, 110)
    const id = await upload(name)
    for (const path of [`/my-library/videos/${id}`, '/my-library/videos', `/w/${id}/take-part`]) {
      const { html } = await maker.open(path)
      const scripts = html.match(/<script[^>]*>/g) ?? []
      expect({
        path,
        scripts: scripts.filter(
          (one) => !/^<script src="\/assets\/[\w-]+\.js"( data-hls="[^"]*")?( data-texts="[^"]*")?( type="module"| defer)>$/.test(one),
        ),
      }).toEqual({ path, scripts: [] })
      expect(html).not.toMatch(/<img[^>]*onerror|<svg[^>]*onload/i)
    }
    const page = await maker.send(part((await maker.open('/my-library/video-channels')).html, 'new'), {
      name: '"><script>alert(1)</script>',
      displayName: '',
    })
    expect(page.html).not.toContain('<script>alert')
  })
})

describe('an administrator', () => {
  it('completes a first setup, once', async () => {
    const browser = makeBrowser(at.node.base)
    let page = await browser.login(at.node.username, at.node.password)
    expect(page.path).toBe('/admin/setup')
    expect((await browser.send(part(page.html, 'done'))).path).toBe('/videos/upload')
    expect((await makeBrowser(at.node.base).login(at.node.username, at.node.password)).path).toBe('/')
    page = await browser.open('/admin/setup')
    page = await browser.send(part(page.html, 'setup'), { 'instance.name': 'Lake', 'signup.enabled': 'true' })
    expect(page.path).toBe('/admin/setup?done=setup')
    expect(page.html).toContain('Lake</bdi></a>')
    page = await browser.send(part(page.html, 'mail'), { hostname: 'mail.example', port: '587', from_address: 'lake@lake.example' })
    expect(page.path).toBe('/admin/setup?done=mail')
    page = await browser.send(part(page.html, 'new'), { name: 'lakebirds', displayName: 'Birds of the lake' })
    expect(page.path).toBe('/admin/setup?done=new')
    expect((await browser.open('/videos/upload')).html).toContain('>Birds of the lake</option>')
    expect((await browser.open('/my-library/video-channels')).html).toMatch(/<bdi>lakebirds@127\.0\.0\.1:\d+<\/bdi>/)
    expect((await at.ask('GET', '/vireo/mail-server', undefined, at.root)).body).toMatchObject({ hostname: 'mail.example', port: 587 })
    const { body } = await at.ask('GET', '/config/custom', undefined, at.root)
    expect(body).toMatchObject({ instance: { name: 'Lake' }, signup: { enabled: true, requiresApproval: false } })
  })

  it('sees a form again with what was typed, if its token is of another login', async () => {
    const browser = makeBrowser(at.node.base)
    await browser.login(at.node.username, at.node.password)
    const form = part((await browser.open('/my-account/profile')).html, 'profile')
    browser.cookies.clear()
    await browser.login(at.node.username, at.node.password)
    const again = await browser.send(form, { displayName: 'Typed before' })
    expect([again.status, again.path]).toEqual([403, '/my-account/profile'])
    expect(again.html).toContain('This form is too old.')
    expect((await browser.send(part(again.html, 'profile'))).path).toBe('/my-account/profile?done=profile')
    expect((await browser.open('/my-account/profile')).html).toContain('value="Typed before"')
  })

  it('keeps search and page of a list with its actions, and shows the last page in place of one beyond it', async () => {
    const users = '/admin/users?users.search=judge'
    let page = await root.open(users)
    const [, judge = ''] = /href="\/admin\/users\/(\d+)"><bdi>judge/.exec(page.html) ?? []
    for (const act of ['block', 'unblock']) {
      page = await root.send(part(page.html, 'users'), { act, id: judge })
      expect(page.path).toBe(users)
      expect(page.html).toMatch(/name="users.search"[^>]* value="judge"/)
      expect(page.html).not.toContain('<bdi>maker')
    }
    page = await root.open(`${users}&users.sort=-createdAt`)
    expect(page.html).toContain('<input type="hidden" name="users.sort" value="-createdAt"><input type="search" name="users.search"')
    expect(page.html).toMatch(
      new RegExp(`aria-labelledby="users-select users-${judge} users-${judge}-1"></td><td id="users-${judge}"><a [^>]*><bdi>judge`),
    )
    moderator = await loggedIn(at, 'judge')
    const lists = (html: string) => [...html.matchAll(/type="checkbox" name="id" value="(\d+)"/g)].map(([, id = '']) => id)
    for (let number = 1; number <= 22; number++)
      expect((await at.ask('POST', '/watched-words/server/lists', { listName: `list ${number}`, words: ['x'] }, at.root)).status).toBe(200)
    page = await root.open('/admin/watched-words?lists.page=2')
    expect(lists(page.html)).toHaveLength(2)
    const [first = '', second = ''] = lists(page.html)
    page = await root.send(part(page.html, 'lists'), { act: `delete ${first}`, ...SURE })
    expect(lists(page.html)).toEqual([second])
    expect(page.html).toContain('Page 2')
    page = await root.send(part(page.html, 'lists'), { act: `delete ${second}`, ...SURE })
    expect(page.html).toContain('Delete: 1 done.')
    expect(lists(page.html)).toHaveLength(20)
    expect(lists((await root.open('/admin/watched-words?lists.page=999')).html)).toHaveLength(20)
  })

  it('changes the configuration in place, and sees errors beside their fields', async () => {
    let page = await root.open('/admin/config')
    const form = part(page.html, 'config')
    page = await root.send(form, { 'signup.minimumAge': '-4', 'instance.name': 'Pond' })
    expect(page.status).toBe(400)
    expect(page.html).toMatch(/aria-invalid="true"/)
    expect(page.html).toContain('value="Pond"')
    page = await root.send(part(page.html, 'config'), { 'signup.minimumAge': '14' })
    expect(page.path).toBe('/admin/config?done=config')
    const { body } = await at.ask('GET', '/config/custom', undefined, at.root)
    expect(body).toMatchObject({ instance: { name: 'Pond' }, signup: { minimumAge: 14 } })
  })

  it('finds settings by section and by words, with explanations, and returns to them; those of the environment are locked', async () => {
    const names = (html: string) => Object.keys(part(html, 'config').fields).filter((name) => name.includes('.'))
    expect(names((await root.open('/admin/config?search=after which registration closes')).html)).toEqual(['signup.limit'])
    let page = await root.open('/admin/config?section=signup')
    expect(page.html).toContain('Users after which registration closes; -1: no limit.')
    expect(new Set(names(page.html).map((name) => name.split('.')[0]))).toEqual(new Set(['signup']))
    page = await root.send(part(page.html, 'config'), { 'signup.limit': '77' })
    expect(page.path).toBe('/admin/config?section=signup&done=config')
    page = await root.open('/admin/config')
    expect(page.html).toMatch(/<textarea[^>]*name="instance.businessModel"[^>]* disabled>\nGifts/)
    page = await root.send(part(page.html, 'config'), { 'instance.businessModel': 'Advertising', 'signup.limit': '78' })
    expect(page.path).toBe('/admin/config?done=config')
    const { body } = await at.ask('GET', '/config/custom', undefined, at.root)
    expect(body).toMatchObject({ instance: { businessModel: 'Gifts', name: 'Pond' }, signup: { limit: 78 } })
  })

  it('resolves a report, blocks a user, and follows a server', async () => {
    const id = await upload('Reported')
    const reader = await loggedIn(at, 'reader')
    await reader.send(part((await reader.open(`/w/${id}/take-part`)).html, 'report'), { reason: 'Much too loud' })
    let page = await moderator.open('/admin/abuses')
    const [, report = ''] = /href="\/admin\/abuses\/(\d+)"><bdi>Much too loud/.exec(page.html) ?? []
    page = await moderator.send(part((await moderator.open(`/admin/abuses/${report}`)).html, 'message'), { message: 'Where?' })
    expect(page.html).toContain('Where?')
    expect((await reader.open(`/my-account/abuses/${report}`)).html).toContain('A moderator')
    page = await moderator.send(part((await moderator.open('/admin/abuses')).html, 'abuses'), {
      act: `accept ${report}`,
      moderationComment: '',
    })
    expect(page.html).toContain('Accept: 1 done.')
    expect((await reader.open('/admin/abuses')).status).toBe(403)
    const users = await root.open('/admin/users?users.search=stranger')
    const [, stranger = ''] = /href="\/admin\/users\/(\d+)"><bdi>stranger/.exec(users.html) ?? []
    page = await root.send(part(users.html, 'users'), { act: 'block', id: stranger })
    expect(page.html).toContain('Block: 1 done.')
    expect((await makeBrowser(at.node.base).login('stranger', PASSWORD)).status).toBe(400)
    page = await root.send(part((await root.open('/admin/follows/following')).html, 'follow'), { hosts: 'not a host' })
    expect(page.status).toBe(400)
    page = await root.send(part((await root.open('/admin/blocklist')).html, 'server'), { host: 'spam.example' })
    expect(page.html).toContain('spam.example')
    page = await root.send(part(page.html, 'servers'), { act: 'unblock spam.example' })
    expect(page.html).toContain('Unblock: 1 done.')
    page = await root.send(part(page.html, 'server'), { host: '' })
    expect(page.status).toBe(400)
  })

  it('empties texts of the configuration, and refuses numbers without digits', async () => {
    const shown = async () => part((await root.open('/admin/config?section=instance')).html, 'config')
    await root.send(await shown(), { 'instance.shortDescription': 'Of birds' })
    expect((await shown()).fields['instance.shortDescription']).toBe('Of birds')
    expect((await root.send(await shown(), { 'instance.shortDescription': '' })).html).toContain('Saved.')
    expect((await shown()).fields['instance.shortDescription']).toBe('')
    const limits = async () => part((await root.open('/admin/config?section=signup')).html, 'config')
    const refused = await root.send(await limits(), { 'signup.limit': '' })
    expect(refused.status).toBe(400)
    expect(refused.html).toMatch(/id="config-signup.limit"[^>]* aria-invalid="true"/)
  })

  it('blocks a video by its pasted address', async () => {
    const id = await upload('A gull')
    const block = async (pasted: string) =>
      (await root.send(part((await root.open('/admin/video-blocks')).html, 'block'), { id: pasted, reason: 'Loud' })).path
    for (const pasted of [
      `${at.node.base}/w/${id}?start=10s#comments`,
      ` https://elsewhere.example/videos/watch/${id}/ `,
      `/w/${id};threadId=1`,
    ]) {
      expect(await block(pasted)).toBe('/admin/video-blocks?done=block')
      expect(await at.query("select reason from video_block b join video v on v.id = b.video_id where v.name = 'A gull'")).toEqual([
        { reason: 'Loud' },
      ])
      expect((await at.ask('DELETE', `/videos/${id}/blacklist`, undefined, at.root)).status).toBe(204)
    }
  })

  it('previews the home page before it is saved', async () => {
    let page = await root.open('/admin/homepage')
    expect(part(page.html, 'homepage').fields.content).toBe('')
    page = await root.send(part(page.html, 'homepage'), { content: '# Ponds\n<script>1</script>', preview: 'true' })
    expect(page.html).toMatch(/<section class="preview".*<h2>Ponds<\/h2>/s)
    expect(page.html).not.toContain('<script>1')
    const visitor = makeBrowser(at.node.base)
    expect((await visitor.open('/')).html).not.toContain('Ponds')
    page = await root.send(part(page.html, 'homepage'), {})
    expect(page.path).toBe('/admin/homepage?done=homepage')
    expect(part(page.html, 'homepage').fields.content).toContain('# Ponds')
    await until(async () => (await visitor.open('/')).html.includes('<h2>Ponds</h2>'))
  })

  it('imports a list of blocked servers, all or nothing, and exports it', async () => {
    const open = async () => (await moderator.open('/admin/blocklist')).html
    const table = '#domain,#severity\none.example,suspend\ntwo.example,silence\nthree.example,suspend\n'
    let page = await moderator.send(part(await open(), 'import-servers'), { list: `${table}not a host,suspend\n`, ...SURE })
    expect(page.status).toBe(400)
    expect(page.html).toContain('Line 5: &quot;not a host&quot; is not the name of a server.')
    expect(await open()).not.toContain('one.example')
    page = await moderator.send(part(await open(), 'import-servers'), { list: `${table}not a host,suspend\n`, skipBad: 'true', ...SURE })
    expect(page.html).toMatch(
      /Newly blocked<\/dt><dd>2<.*Blocked before<\/dt><dd>0<.*milder severity<\/dt><dd>1<.*Wrong lines<\/dt><dd>1</s,
    )
    page = await moderator.send(part(await open(), 'export-servers'), {})
    expect(page.html).toContain('\none.example,suspend,false,false,,false\nthree.example,suspend')
    page = await moderator.send(part(await open(), 'servers'), { act: 'unblock three.example' })
    page = await moderator.send(part(await open(), 'import-servers'), { list: 'one.example\nthree.example', ...SURE })
    expect(page.html).toMatch(/Newly blocked<\/dt><dd>1<.*Blocked before<\/dt><dd>1</s)
  })

  it.each([
    ['the instance', () => moderator, '/admin/blocklist', 'judge'],
    ['a user', () => maker, '/my-account/blocklist', 'maker'],
  ])('imports and exports the block lists of %s', async (_who, by, path, own) => {
    const host = new URL(at.node.base).host
    const open = async () => (await by().open(path)).html
    const answered = (html: string) =>
      [...html.matchAll(/<dt>([^<]*)<\/dt><dd>(?:<bdi>)?([^<]*)<\//g)].map(([, name, value]) => `${name}: ${value}`)
    const list = `# those we met\r\n\r\n@STRANGER@${host}\r\nreader@${host}\r\nLoud@loud.example\r\nnobody@gone.example\r\nnobody@${host}\r\n`
    const wrong = `not a handle\n${own}@${host}\n`
    let page = await by().send(part(await open(), 'import-accounts'), { list: list + wrong, ...SURE })
    expect(page.status).toBe(400)
    expect(page.html).toContain('Line 8: &quot;not a handle&quot; is not the handle of an account. Line 9: You cannot block yourself.')
    expect(await open()).not.toContain(`stranger@${host}`)
    page = await by().send(part(await open(), 'import-accounts'), { list: list + wrong, skipBad: 'true', ...SURE })
    const unknown = `Not known here, and not blocked: nobody@gone.example, nobody@${host}`
    expect(answered(page.html)).toEqual(['Newly blocked: 3', 'Blocked before: 0', unknown, 'Wrong lines: 2'])
    page = await by().send(part(await open(), 'import-accounts'), { list, ...SURE })
    expect(answered(page.html)).toEqual(['Newly blocked: 0', 'Blocked before: 3', unknown, 'Wrong lines: 0'])
    page = await by().send(part(await open(), 'export-accounts'), {})
    expect(page.html).toContain(`>\nreader@${host}\nstranger@${host}\nloud@loud.example\n</textarea>`)
    page = await by().send(part(await open(), 'import-servers'), { list: 'four.example', ...SURE })
    expect(answered(page.html)[0]).toBe('Newly blocked: 1')
    page = await by().send(part(await open(), 'export-servers'), {})
    expect(page.html).toMatch(/\nfour\.example[,\n]/)
    for (const act of [`stranger@${host}`, `reader@${host}`, 'loud@loud.example']) {
      page = await by().send(part(await open(), 'accounts'), { act: `unblock ${act}` })
      expect(page.html).toContain('Unblock: 1 done.')
    }
  })

  it('shows the health of the server, and retries a failed job', async () => {
    await at.ask('POST', '/jobs/pause', undefined, at.root)
    const [{ id } = { id: 0 }] = await at.query<{ id: number }>(
      `insert into job (type, queue, state, data, finished_at, error) values
       ('email', 'mail', 'failed', '{"n": 1}', now(), 'It <broke>') returning id`,
    )
    let page = await root.open('/admin/overview')
    expect(page.html).toMatch(/<dt>State<\/dt><dd>Good<\/dd>/)
    expect(page.html).toMatch(/<dt>Free on the disk<\/dt><dd>[\d.,]+\s[MGT]B</)
    expect(page.html).toContain('It &lt;broke&gt;')
    page = await root.send(part(page.html, 'failed'), { act: `retry ${id}` })
    expect(page.html).toContain('Try again: 1 done.')
    expect((await at.ask('POST', `/vireo/jobs/${id}/retry`, undefined, at.root)).status).toBe(409)
    await at.query('delete from job where id = $1', [id])
    await at.ask('POST', '/jobs/resume', undefined, at.root)
  })

  it('shows long lines of a log on pages of less than 50 kB', async () => {
    const changes = Array.from({ length: 45 }, (_, number) => '&'.repeat(900 - number))
    for (const description of changes) await at.ask('PUT', '/users/me', { description }, at.root)
    const open = async (page: number) =>
      (await root.open(`/admin/logs?audit-logs.page=${page}`)).html.split('<h2 id="audit-logs">')[1] ?? ''
    const first = await open(1)
    expect(first.match(/<tr>/g)).toHaveLength(21)
    expect(first).toContain('aria-label="Pages: Changes of the last week"')
    expect(Buffer.byteLength(first)).toBeLessThan(50_000)
    const second = await open(2)
    expect(second.match(/<tr>/g)).toHaveLength(21)
    expect(second).toContain('rel="prev"')
  })

  it('lists own sessions and ends another one', async () => {
    const [one, other] = [await loggedIn(at, 'reader'), await loggedIn(at, 'reader')]
    const page = await one.open('/my-account/sessions')
    const rows = page.html.match(/<tr>.*?<\/tr>/gs) ?? []
    const current = rows.filter((row) => row.includes('This one'))
    expect(current).toHaveLength(1)
    const sessions = await at.query<{ id: number }>(
      "select s.id from session s join users u on u.id = s.user_id where u.username = 'reader' order by s.id desc",
    )
    const last = sessions[0]?.id ?? 0
    expect(current[0]).not.toContain(`value="${last}"`)
    expect((await other.open('/my-account/sessions')).status).toBe(200)
    expect(
      (await maker.send(part((await maker.open('/my-account/sessions')).html, 'sessions'), { act: `end ${last}`, ...SURE })).status,
    ).toBe(404)
    expect((await one.send(part(page.html, 'sessions'), { act: `end ${last}`, ...SURE })).html).toContain('Log out: 1 done.')
    expect((await other.open('/my-account/sessions')).path).toContain('/login')
    expect((await one.open('/my-account/sessions')).path).toBe('/my-account/sessions')
  })

  it('registers a runner, sees its version and contact, and removes it', async () => {
    let page = await root.send(part((await root.open('/admin/runners')).html, 'token'), {})
    const [registrationToken] = /ptrrt-[0-9a-f-]{36}/.exec(page.html) ?? []
    const named = { name: 'a <b>machine</b>', version: '3.2.1' }
    expect((await at.ask('POST', '/runners/register', { registrationToken, ...named })).status).toBe(200)
    page = await root.open('/admin/runners')
    expect(page.html).toContain('a &lt;b&gt;machine&lt;/b&gt;')
    expect(page.html).toContain('3.2.1')
    const { body } = await at.ask('GET', '/vireo/runners', undefined, at.root)
    expect(body).toMatchObject({ total: 1, data: [{ name: named.name, version: '3.2.1', jobs: 0, failures: 0 }] })
    const [{ id } = { id: 0 }] = await at.query<{ id: number }>('select id from runner')
    page = await root.send(part(page.html, 'runners'), { act: `remove ${id}`, ...SURE })
    expect(page.html).toContain('Remove: 1 done.')
    expect(page.html).toContain('No runner is registered.')
  })
})
