// Playlists over REST beyond the recorded exchanges: thumbnails, gaps, order, lists, and privacy.

import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type Client, login } from '../../../scripts/demo/client.ts'
import { type FederatedNode, startFederatedNode } from '../../federation/support.ts'
import { media } from '../../support/media.ts'
import { until } from '../../support/until.ts'
import { formWith, plain } from '../me/users.ts'

interface Playlist {
  id: number
  uuid: string
  displayName: string
  description: string | null
  thumbnailPath: string | null
  videosLength: number
}
interface Element {
  id: number
  position: number
  type: number
  video: { name: string } | null
}

let node: FederatedNode
let ada: Client
let channelId: number
let bytes: Buffer

beforeAll(async () => {
  node = await startFederatedNode()
  const user = { username: 'ada', password: 'password of ada', email: 'ada@example.org', role: 2 }
  await node.client.send('POST', '/api/v1/users', user)
  ada = await login(node.base, user.username, user.password)
  const me = await node.client.get<{ videoChannels: { id: number }[] }>('/api/v1/users/me')
  channelId = me.videoChannels[0]?.id ?? 0
  bytes = await readFile(await media('small.mp4'))
})
afterAll(async () => {
  await node?.stop()
})

const LIST = '/api/v1/video-playlists'
async function make(fields: object = {}): Promise<Playlist> {
  const body = { displayName: 'A playlist', privacy: 1, videoChannelId: channelId, ...fields }
  const { videoPlaylist } = await node.client.send<{ videoPlaylist: { uuid: string } }>('POST', LIST, body)
  return await look(videoPlaylist)
}
const look = ({ uuid }: { uuid: string }) => node.client.get<Playlist>(`${LIST}/${uuid}`)
const add = (playlist: Playlist, videoId: number) => node.client.send('POST', `${LIST}/${playlist.uuid}/videos`, { videoId })
const elements = async (playlist: Playlist, as = node.client) => (await as.get<{ data: Element[] }>(`${LIST}/${playlist.uuid}/videos`)).data
const order = async (playlist: Playlist) => (await elements(playlist)).map(({ video }) => video?.name ?? '-').join('')

describe('the thumbnail of a playlist', () => {
  it('is that of the first public video, until one is uploaded', async () => {
    const playlist = await make()
    expect(playlist.thumbnailPath).toBeNull()
    await add(playlist, (await node.upload(bytes, { name: 'Hidden', privacy: '3' })).id)
    expect((await look(playlist)).thumbnailPath).toBeNull()
    const video = await node.upload(bytes)
    await add(playlist, video.id)
    const shown = await node.client.get<{ thumbnailPath: string }>(`/api/v1/videos/${video.uuid}`)
    expect((await look(playlist)).thumbnailPath).toBe(shown.thumbnailPath)

    const pictures: string[] = []
    for (const name of ['first.png', 'second.png']) {
      const form = formWith('thumbnailfile', await plain(64, 64).png().toBuffer(), name)
      await node.client.send('PUT', `${LIST}/${playlist.uuid}`, form)
      const path = (await look(playlist)).thumbnailPath ?? ''
      expect(path).toMatch(/^\/lazy-static\/thumbnails\/playlist-[0-9a-f-]{36}\.jpg$/)
      const picture = await fetch(`${node.base}${path}`)
      expect({ status: picture.status, type: picture.headers.get('content-type') }).toEqual({
        status: 200,
        type: 'image/jpeg',
      })
      pictures.push(path.split('/').at(-1) ?? '')
    }
    // It waits for its removal, or is removed already.
    await until(async () => {
      const query = 'select 1 from pending_file where kind = $1 and name = $2'
      const [condemned] = await node.query(query, ['thumbnails', pictures[0]])
      return condemned ?? (await fetch(`${node.base}/lazy-static/thumbnails/${pictures[0]}`)).status === 404
    })
  })

  it('that is no image changes nothing', async () => {
    const playlist = await make()
    const form = formWith('thumbnailfile', 'no picture', 'picture.png')
    form.set('displayName', 'Renamed')
    const answer = await node.client.raw(`${LIST}/${playlist.uuid}`, { method: 'PUT', body: form })
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({ 'invalid-params': { thumbnailfile: { location: 'body' } } })
    expect(await look(playlist)).toEqual(playlist)
    expect(await node.query("select 1 from pending_file where name like 'playlist-%' and owner <> 'nobody'")).toEqual([])
  })
})

describe('an element of a playlist', () => {
  it('can be moved in blocks to any order', async () => {
    const playlist = await make()
    for (const name of ['aaa', 'bbb', 'ccc', 'ddd']) await add(playlist, (await node.upload(bytes, { name })).id)
    const moves: [startPosition: number, insertAfterPosition: number, reorderLength: number, order: string][] = [
      [1, 4, 1, 'bbbcccdddaaa'],
      [3, 0, 2, 'dddaaabbbccc'],
      [2, 4, 2, 'dddcccaaabbb'],
      [2, 1, 3, 'dddcccaaabbb'],
      [1, 2, 3, 'dddcccaaabbb'],
      [4, 1, 1, 'dddbbbcccaaa'],
    ]
    for (const [startPosition, insertAfterPosition, reorderLength, wanted] of moves) {
      const body = { startPosition, insertAfterPosition, reorderLength }
      await node.client.send('POST', `${LIST}/${playlist.uuid}/videos/reorder`, body)
      expect(await order(playlist)).toBe(wanted)
      expect((await elements(playlist)).map(({ position }) => position)).toEqual([1, 2, 3, 4])
    }
    const [, second] = await elements(playlist)
    await node.client.send('DELETE', `${LIST}/${playlist.uuid}/videos/${second?.id}`)
    expect(await order(playlist)).toBe('dddcccaaa')
    expect((await elements(playlist)).map(({ position }) => position)).toEqual([1, 2, 3])
  })

  it('never stops before it starts, whichever of the two is changed', async () => {
    const playlist = await make()
    const videoId = (await node.upload(bytes)).id
    const path = `${LIST}/${playlist.uuid}/videos`
    const refusal = async (method: string, to: string, body: object) => {
      const answer = await node.client.raw(to, {
        method,
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json' },
      })
      const problem = answer.status === 400 ? ((await answer.json()) as { 'invalid-params': object }) : undefined
      return [answer.status, ...Object.keys(problem?.['invalid-params'] ?? {})]
    }
    expect(await refusal('POST', path, { videoId, startTimestamp: 5, stopTimestamp: 4 })).toEqual([400, 'stopTimestamp'])
    expect(await elements(playlist)).toEqual([])
    expect(await refusal('POST', path, { videoId, startTimestamp: 5, stopTimestamp: 9 })).toEqual([200])
    const [element] = await elements(playlist)
    const one = `${path}/${element?.id}`
    expect(await refusal('PUT', one, { stopTimestamp: 4 })).toEqual([400, 'stopTimestamp'])
    expect(await refusal('PUT', one, { startTimestamp: 10 })).toEqual([400, 'stopTimestamp'])
    expect(await elements(playlist)).toMatchObject([{ startTimestamp: 5, stopTimestamp: 9 }])
    expect(await refusal('PUT', one, { startTimestamp: 1, stopTimestamp: 4 })).toEqual([204])
    expect(await refusal('PUT', one, { startTimestamp: 10, stopTimestamp: null })).toEqual([204])
    expect(await elements(playlist)).toMatchObject([{ startTimestamp: 10, stopTimestamp: null }])
  })

  it('of a removed video is a gap', async () => {
    const playlist = await make()
    const video = await node.upload(bytes)
    await add(playlist, video.id)
    await node.client.send('DELETE', `/api/v1/videos/${video.uuid}`)
    expect(await elements(playlist)).toMatchObject([{ position: 1, type: 1, video: null }])
    await until(async () => (await node.query('select 1 from video where id = $1', [video.id])).length === 0)
    expect(await elements(playlist)).toMatchObject([{ position: 1, type: 1, video: null }])
    expect(await look(playlist)).toMatchObject({ videosLength: 1 })
  })

  it('shows its video only to those who may see it', async () => {
    const playlist = await make()
    for (const privacy of ['2', '3', '4']) await add(playlist, (await node.upload(bytes, { privacy })).id)
    const types = async (as: Client) => (await elements(playlist, as)).map(({ type, video }) => [type, video !== null])
    expect(await types(node.client)).toEqual([
      [0, true],
      [0, true],
      [0, true],
    ])
    expect(await types(ada)).toEqual([
      [0, true],
      [2, false],
      [0, true],
    ])
    const visitor = await (await fetch(`${node.base}${LIST}/${playlist.uuid}/videos`)).json()
    expect(visitor).toMatchObject({ total: 3, data: [{ type: 0 }, { type: 2, video: null }, { type: 2, video: null }] })
  })

  it('cannot be a video that is not visible to the user', async () => {
    const hidden = await node.upload(bytes, { privacy: '3' })
    const { videoPlaylist } = await ada.send<{ videoPlaylist: { id: number } }>('POST', LIST, { displayName: 'Mine' })
    const adding = (id: number) =>
      ada.raw(`${LIST}/${videoPlaylist.id}/videos`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ videoId: id }),
      })
    expect((await adding(hidden.id)).status).toBe(403)
    expect((await adding((await node.upload(bytes)).id)).status).toBe(200)
  })
})

describe('lists of playlists', () => {
  const listed = async (path: string, as = node.client) =>
    (await as.get<{ data: Playlist[] }>(path)).data.map(({ displayName }) => displayName)

  it('are filtered by part of the name, sorted, and paged', async () => {
    for (const name of ['Birds 2', 'Birds 1', 'Birds_3']) await make({ displayName: name })
    await make({ displayName: 'Birds hidden', privacy: 3 })
    const of = '/api/v1/accounts/root/video-playlists'
    expect(await listed(`${of}?search=birds&sort=name`, ada)).toEqual(['Birds 1', 'Birds 2', 'Birds_3'])
    expect(await listed(`${of}?search=birds&sort=-displayName`)).toEqual(['Birds_3', 'Birds hidden', 'Birds 2', 'Birds 1'])
    expect(await listed(`${of}?search=s_3`)).toEqual(['Birds_3'])
    expect(await listed(`${of}?search=birds&sort=createdAt&start=1&count=1`, ada)).toEqual(['Birds 1'])
    expect(await node.client.get(`${of}?search=birds&start=50`)).toEqual({ total: 4, data: [] })
    expect(await listed(`${of}?playlistType=2`)).toEqual(['Watch later'])
    expect(await listed(`${of}?playlistType=2`, ada)).toEqual([])
    expect((await node.client.raw('/api/v1/accounts/nobody/video-playlists')).status).toBe(404)
    expect((await node.client.raw('/api/v1/video-channels/root/video-playlists')).status).toBe(404)
  })
})

describe('a change', () => {
  it('clears the description and the channel with null', async () => {
    const playlist = await make({ description: 'A description' })
    await node.client.send('PUT', `${LIST}/${playlist.uuid}`, { displayName: 'Renamed' })
    expect(await look(playlist)).toMatchObject({ displayName: 'Renamed', description: 'A description' })
    const withoutChannel = { description: null, videoChannelId: null }
    const refused = await node.client.raw(`${LIST}/${playlist.uuid}`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(withoutChannel),
    })
    expect(refused.status).toBe(400)
    await node.client.send('PUT', `${LIST}/${playlist.uuid}`, { ...withoutChannel, privacy: 3 })
    expect(await look(playlist)).toMatchObject({ description: null, videoChannel: null, privacy: { id: 3 } })
  })
})

describe('the list of all playlists', () => {
  it('has an exact total after any changes, of all and by type', async () => {
    const total = async (query = '') => (await node.client.get<{ total: number }>(`${LIST}?count=1${query}`)).total
    const before = await total()
    const playlist = await make()
    const others = [await make(), await make({ privacy: 2 })]
    expect([await total(), await total('&playlistType=1'), await total('&playlistType=2')]).toEqual([before + 2, before + 2, 0])
    await node.client.send('PUT', `${LIST}/${playlist.uuid}`, { privacy: 3 })
    expect(await total()).toBe(before + 1)
    await node.client.send('PUT', `${LIST}/${playlist.uuid}`, { privacy: 1 })
    expect(await total()).toBe(before + 2)
    for (const { uuid } of [playlist, ...others]) await node.client.send('DELETE', `${LIST}/${uuid}`)
    expect(await total()).toBe(before)
    await until(async () => (await node.query('select 1 from playlist_total_delta')).length === 0)
    expect(await total()).toBe(before)
    const [row] = await node.query<{ count: number }>('select count(*)::int from playlist where privacy = 1')
    expect(before).toBe(row?.count)
  })
})

describe('a video in many playlists', () => {
  it('that is removed sends Updates of the public playlists, in batches', async () => {
    const { id } = await node.upload(bytes)
    await node.settled()
    const [root] = await node.query<{ id: number }>("select a.id from account a join users u on u.id = a.user_id where u.username = 'root'")
    await node.query(
      `with made as (
         insert into playlist (uuid, account_id, channel_id, url, name, type, privacy)
         select u.uuid, $1, $2, 'http://localhost/video-playlists/' || u.uuid, 'Many', 1, case when u.n <= 210 then 1 else 3 end
         from (select n, gen_random_uuid() as uuid from generate_series(1, 260) n) u returning id
       ) insert into playlist_element (playlist_id, video_id, position) select id, $3, 1 from made`,
      [root?.id, channelId, id],
    )
    await node.query('create table said (event text, playlist_id int, at_once int)')
    await node.query(
      `create function note_said() returns trigger language plpgsql as $$ begin
         insert into said select event, (payload->>'playlistId')::int, count(*) over () from added
         where event in ('PlaylistUpdated', 'PlaylistsOfVideoTold');
         return null;
       end $$`,
    )
    await node.query(
      `create trigger note_said after insert on outbox referencing new table as added for each statement
       execute function note_said()`,
    )
    await node.client.send('DELETE', `/api/v1/videos/${id}`)
    await until(async () => (await node.query('select 1 from video where id = $1', [id])).length === 0, {
      what: 'the end of the video',
    })
    await node.query('drop trigger note_said on outbox')
    expect(
      await node.query(
        `select s.event, p.privacy, count(*)::int, max(s.at_once)::int as "atOnce" from said s
         left join playlist p on p.id = s.playlist_id group by 1, 2 order by 1`,
      ),
    ).toEqual([
      { event: 'PlaylistUpdated', privacy: 1, count: 210, atOnce: 101 },
      { event: 'PlaylistsOfVideoTold', privacy: null, count: 2, atOnce: 101 },
    ])
  })
})
