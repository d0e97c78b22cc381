// Screens of the own library without scripts: the order of playlists, who may open what, and offers of videos.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type Browser, type Form, makeBrowser, partIn as part } from '../../support/browser.ts'
import { makeChannel, makeRemoteChannel, makeVideo } from '../../support/builders.ts'
import { type MailNode, startMailNode } from '../registrations/node.ts'
import { addUser, loggedIn, PASSWORD } from './users.ts'

let at: MailNode
let maker: Browser
let channelId: number

beforeAll(async () => {
  at = await startMailNode({ config: { transcoding: { enabled: false } } })
  await Promise.all([addUser(at, 'maker', 2), addUser(at, 'other', 2), addUser(at, 'judge', 1)])
  maker = await loggedIn(at, 'maker')
  channelId = await channelOf('maker')
})
afterAll(() => at?.stop())

async function channelOf(username: string): Promise<number> {
  const [channel] = await at.query<{ id: number }>(
    `select c.id from channel c join account a on a.id = c.account_id join users u on u.id = a.user_id where u.username = $1 order by c.id`,
    [username],
  )
  return channel?.id ?? 0
}

describe('a playlist', () => {
  /** Buttons of a page, with `!` before the one that gets the focus. */
  const buttonsIn = (html: string) =>
    [...html.matchAll(/<button name="act" value="([^"]*)"([^>]*)>/g)].map(([, value = '', more = '']) =>
      more.includes('autofocus') ? `!${value}` : value,
    )

  it('is ordered by buttons, and the moved video keeps the focus', async () => {
    const made = await maker.open('/my-library/video-playlists')
    const playlist = await maker.send(part(made.html, 'new'), { displayName: 'Birds', privacy: '3' })
    const path = playlist.path
    const id = path.split('/').at(-1)
    const { access_token } = (await at.token('maker', PASSWORD)).body
    for (const name of ['a', 'b', 'c']) {
      const video = await makeVideo(at, { channelId, columns: { name } })
      expect((await at.ask('POST', `/video-playlists/${id}/videos`, { videoId: video.id }, `Bearer ${access_token}`)).status).toBe(200)
    }
    const order = async () =>
      (
        await at.query<{ id: number; name: string }>(
          `select e.id, v.name from playlist_element e join video v on v.id = e.video_id order by e.position`,
        )
      ).map(({ name }) => name)
    const elements = await at.query<{ id: number }>('select id from playlist_element order by position')
    const [a, b, c] = elements.map((element) => element.id)
    let page = await maker.open(path)
    expect(buttonsIn(page.html)).toEqual([
      ...[`down 1~${a}`, `remove 1~${a}`],
      ...[`up 2~${b}`, `down 2~${b}`, `remove 2~${b}`],
      ...[`up 3~${c}`, `remove 3~${c}`],
      // Together they can only be removed.
      'remove',
    ])
    const list = part(page.html, 'elements')
    page = await maker.send(list, { act: `up 3~${c}` })
    expect(page.html).toContain('Up: 1 done.')
    expect(await order()).toEqual(['a', 'c', 'b'])
    expect(buttonsIn(page.html)).toEqual([
      ...[`down 1~${a}`, `remove 1~${a}`],
      ...[`!up 2~${c}`, `down 2~${c}`, `remove 2~${c}`],
      ...[`up 3~${b}`, `remove 3~${b}`],
      'remove',
    ])
    page = await maker.send(list, { act: `up 2~${c}` })
    expect(await order()).toEqual(['c', 'a', 'b'])
    expect(buttonsIn(page.html)[0]).toBe(`!down 1~${c}`)
    await maker.send(list, { act: `down 1~${c}` })
    expect(await order()).toEqual(['a', 'c', 'b'])
    // Somewhere else at once.
    await maker.send(part(page.html, 'order'), { startPosition: '3', insertAfterPosition: '0' })
    expect(await order()).toEqual(['b', 'a', 'c'])
    page = await maker.send(list, { act: `remove 2~${a}` })
    expect(await order()).toEqual(['b', 'c'])
    expect(buttonsIn(page.html)).toEqual([`down 1~${b}`, `remove 1~${b}`, `up 2~${c}`, `remove 2~${c}`, 'remove'])
    expect((await maker.send(list, { act: `down 2~${c}` })).html).toContain('0 done. 1 refused')
  })
})

describe('the screens of a video, a playlist and a channel', () => {
  const statusesOf = async (browser: Browser, paths: readonly string[]) =>
    await Promise.all(paths.map(async (path) => (await browser.open(path)).status))

  it('are there for their owner and the staff alone', async () => {
    const { uuid } = await makeVideo(at, { channelId })
    const made = await maker.send(part((await maker.open('/my-library/video-playlists')).html, 'new'), {
      displayName: 'Ducks',
      privacy: '3',
    })
    await at.query("update playlist set privacy = 1, channel_id = $1 where name = 'Ducks'", [channelId])
    const video = `/my-library/videos/${uuid}`
    const edits = [video, `${video}/chapters`, `${video}/studio`, `${video}/source`, made.path, '/my-library/video-channels/maker_channel']
    const paths = [...edits, `${video}/statistics`]
    const [other, moderator] = [await loggedIn(at, 'other'), await loggedIn(at, 'judge')]
    expect(await statusesOf(maker, paths)).toEqual(paths.map(() => 200))
    expect(await statusesOf(moderator, paths)).toEqual(paths.map(() => 200))
    expect(await statusesOf(other, paths)).toEqual([...edits.map(() => 404), 403])
    const page = await other.open(video)
    expect(page.html).toContain('There is nothing here')
    expect(page.html).not.toContain('name="part"')
    // Forms are not sent on, either.
    const details = part((await maker.open(video)).html, 'details')
    const token = part((await other.open('/my-library/video-playlists')).html, 'new').fields.token ?? ''
    expect((await other.send(details, { name: 'Mine now', token })).status).toBe(404)
    expect((await makeBrowser(at.node.base).open(video)).path).toBe(`/login?next=${encodeURIComponent(video)}`)
  })

  it('are not there for what is of another server', async () => {
    const { channelId: remote } = await makeRemoteChannel(at, { host: 'far.example', username: 'far' })
    const { uuid } = await makeVideo(at, { channelId: remote, remoteOrigin: 'https://far.example' })
    const moderator = await loggedIn(at, 'judge')
    const paths = [`/my-library/videos/${uuid}`, '/my-library/video-channels/far_channel@far.example']
    expect(await statusesOf(moderator, paths)).toEqual([404, 404])
    expect((await moderator.open(`/w/${uuid}`)).status).toBe(200)
  })
})

describe('offers of videos', () => {
  const listed = async (browser: Browser) => part((await browser.open('/my-library/videos')).html, 'videos')
  const offers = async () =>
    await at.query<{ name: string; state: string }>(
      'select v.name, o.state from ownership_change o join video v on v.id = o.video_id order by v.name, o.id',
    )

  it('are made for many at once, and accepted into any own channel', async () => {
    await at.query('delete from video')
    await makeVideo(at, { channelId, columns: { name: 'A' } })
    // Also of one alone.
    expect((await maker.open('/my-library/videos')).html).toContain('value="offer">Offer<')
    for (const name of ['B', 'C']) await makeVideo(at, { channelId, columns: { name } })
    const ids = await at.query<{ id: number }>('select id from video order by name')
    const [a = 0, b = 0] = ids.map(({ id }) => id)
    const other = await loggedIn(at, 'other')
    const first = await channelOf('other')
    const [{ accountId = 0 } = {}] = await at.query<{ accountId: number }>('select account_id as "accountId" from channel where id = $1', [
      first,
    ])
    const second = await makeChannel(at, { accountId, username: 'second', name: 'The second' })

    const page = (await maker.open('/my-library/videos')).html
    expect(page).toContain('<button name="act" value="offer">Offer</button>')
    expect(page).not.toContain('value="offer ')
    const form = await listed(maker)
    expect((await sendIds(maker, form, [a, b], { act: 'offer' })).html).toContain('Offer: 0 done. 2 refused')
    expect((await sendIds(maker, form, [a, b], { act: 'offer', username: 'nobody' })).html).toContain('Offer: 0 done. 2 refused')
    expect((await sendIds(maker, form, [], { act: 'offer', username: 'other' })).html).toContain('Nothing is selected.')
    expect(await offers()).toEqual([])
    expect((await sendIds(maker, form, [a, b], { act: 'offer', username: 'other' })).html).toContain('Offer: 2 done.')
    expect(await offers()).toEqual(['A', 'B'].map((name) => ({ name, state: 'waiting' })))
    // The name is for offers alone.
    expect((await sendIds(maker, form, [a], { act: 'hide', username: 'other' })).html).toContain('Make private: 1 done.')

    const { html } = await other.open('/my-library/ownership')
    expect(html).toMatch(
      new RegExp(`<select [^>]*name="channelId"[^>]*><option value="${first}">[^<]*</option><option value="${second.id}">The second<`),
    )
    const [offer] = await at.query<{ id: number }>('select id from ownership_change where video_id = $1', [a])
    const accepted = await other.send(part(html, 'offers'), { act: `accept ${offer?.id}`, channelId: String(second.id) })
    expect(accepted.html).toContain('Accept: 1 done.')
    expect(await at.query('select channel_id as channel from video where id = $1', [a])).toEqual([{ channel: second.id }])
    // Channels of others are refused.
    const [left] = await at.query<{ id: number }>('select id from ownership_change where video_id = $1', [b])
    const refused = await other.send(part(html, 'offers'), { act: `accept ${left?.id}`, channelId: String(channelId) })
    expect(refused.html).toContain('Accept: 0 done. 1 refused')
    expect((await other.send(part(html, 'offers'), { act: `refuse ${left?.id}`, channelId: String(first) })).html).toContain(
      'Refuse: 1 done.',
    )
    expect(await offers()).toEqual([
      { name: 'A', state: 'accepted' },
      { name: 'B', state: 'refused' },
    ])
  })

  /** The form with the boxes of these rows checked. */
  async function sendIds(browser: Browser, { action, fields }: Form, ids: readonly number[], typed: Record<string, string>) {
    const query = ids.map((id) => `id=${id}`).join('&')
    const body = `${new URLSearchParams({ token: fields.token ?? '', part: fields.part ?? '', ...typed })}&${query}`
    const cookie = [...browser.cookies].map((pair) => pair.join('=')).join('; ')
    const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html', origin: at.node.base, cookie }
    const answer = await fetch(`${at.node.base}${action}`, { method: 'POST', body, headers })
    return { html: await answer.text() }
  }
})

describe('a comment on its own page', () => {
  it('is the Markdown that the page of the video shows', async () => {
    const video = await makeVideo(at, { channelId })
    const text = 'if a <b and c> d then x<3, or *so*'
    const page = await maker.send(part((await maker.open(`/w/${video.uuid}/take-part`)).html, 'comment'), { text })
    const shown = '<p>if a &lt;b and c&gt; d then x&lt;3, or <em>so</em></p>'
    expect(page.html).toContain(shown)
    const [, own = ''] = /href="(\/w\/\w+\/comments\/\d+\/\d+)"/.exec(page.html) ?? []
    expect((await maker.open(own)).html).toContain(shown)
  })
})

describe('a video', () => {
  it('is saved to any of many playlists', async () => {
    const { access_token } = (await at.token('other', PASSWORD)).body
    const names = Array.from({ length: 30 }, (_, index) => `List ${index}`)
    for (const displayName of names)
      expect((await at.ask('POST', '/video-playlists', { displayName, privacy: 3 }, `Bearer ${access_token}`)).status).toBe(200)
    const video = await makeVideo(at, { channelId })
    const other = await loggedIn(at, 'other')
    const { html } = await other.open(`/w/${video.uuid}/take-part`)
    const offered = new Map([...html.matchAll(/<option value="(\d+)">([^<]*)<\/option>/g)].map(([, id, name]) => [name, id]))
    expect([...offered.keys()]).toEqual(expect.arrayContaining(names))
    const saved = await other.send(part(html, 'save'), { playlistId: offered.get('List 0') ?? '' })
    expect(saved.html).toContain('It is in the playlist.')
    const elements = 'select p.name from playlist_element e join playlist p on p.id = e.playlist_id where e.video_id = $1'
    expect(await at.query(elements, [video.id])).toEqual([{ name: 'List 0' }])
  })
})

describe('a name that was emptied', () => {
  it.each([
    [
      'a video',
      async () => `/my-library/videos/${(await makeVideo(at, { channelId, columns: { name: 'Kept' } })).uuid}`,
      'details',
      'name',
    ],
    ['a channel', async () => '/my-library/video-channels/maker_channel', 'channel', 'displayName'],
    [
      'a playlist',
      async () => (await maker.send(part((await maker.open('/my-library/video-playlists')).html, 'new'), { displayName: 'Kept' })).path,
      'playlist',
      'displayName',
    ],
    ['an account', async () => '/my-account/profile', 'email', 'email'],
  ])('is refused, not left as it was: of %s', async (_what, make, form, field) => {
    const path = await make()
    const { html } = await maker.open(path)
    expect(html).toMatch(new RegExp(`<input id="${form}-${field}" name="${field}" value="[^"]+"[^>]* required`))
    const before = part(html, form).fields[field]
    const page = await maker.send(part(html, form), { [field]: '', currentPassword: PASSWORD })
    expect(page.status).toBe(400)
    expect(page.html).toContain(`id="${form}-${field}"`)
    expect(page.html).toMatch(new RegExp(`id="${form}-${field}"[^>]* aria-invalid="true"`))
    expect(part((await maker.open(path)).html, form).fields[field]).toBe(before)
  })

  it('empties a text that may be empty', async () => {
    const path = '/my-library/video-channels/maker_channel'
    const describe = async (description: string) => await maker.send(part((await maker.open(path)).html, 'channel'), { description })
    await describe('Of the pond')
    expect((await describe('')).path).toBe(`${path}?done=channel`)
    expect(part((await maker.open(path)).html, 'channel').fields.description).toBe('')
  })
})
