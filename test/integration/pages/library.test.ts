// Screens of the own library without scripts: the order of playlists, and who may open what.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type Browser, makeBrowser, partIn as part } from '../../support/browser.ts'
import { makeRemoteChannel, makeVideo } from '../../support/builders.ts'
import { type MailNode, startMailNode } from '../registrations/node.ts'

const PASSWORD = 'a good password'

let at: MailNode
let maker: Browser
let channelId: number

beforeAll(async () => {
  at = await startMailNode({ config: { transcoding: { enabled: false } } })
  await Promise.all([user('maker', 2), user('other', 2), user('judge', 1)])
  maker = await loggedIn('maker')
  channelId = await channelOf('maker')
})
afterAll(() => at?.stop())

async function user(username: string, role: number): Promise<void> {
  const body = { username, password: PASSWORD, email: `${username}@example.com`, role, videoQuota: -1, videoQuotaDaily: -1 }
  expect((await at.ask('POST', '/users', body, at.root)).status).toBe(200)
}

async function loggedIn(name: string): Promise<Browser> {
  const browser = makeBrowser(at.node.base)
  await browser.login(name, PASSWORD)
  return browser
}

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
    const edits = [video, `${video}/studio`, `${video}/source`, made.path, '/my-library/video-channels/maker_channel']
    const paths = [...edits, `${video}/statistics`]
    const [other, moderator] = [await loggedIn('other'), await loggedIn('judge')]
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
    const moderator = await loggedIn('judge')
    const paths = [`/my-library/videos/${uuid}`, '/my-library/video-channels/far_channel@far.example']
    expect(await statusesOf(moderator, paths)).toEqual([404, 404])
    expect((await moderator.open(`/w/${uuid}`)).status).toBe(200)
  })
})
