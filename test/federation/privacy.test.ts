// What other servers get of a video while its privacy changes, of its comments, ratings and parts, and of scheduled videos; with and
// without federation of unlisted videos.

import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { type FakePeer, type JsonObject, startFakePeer } from '../support/fake-peer.ts'
import { media } from '../support/media.ts'
import { type FederatedNode, introduce, startFederatedNode } from './support.ts'

const [PUBLIC, UNLISTED, PRIVATE, INTERNAL] = [1, 2, 3, 4]
const IN_A_YEAR = new Date(Date.now() + 365 * 86_400_000).toISOString()
const VTT = 'WEBVTT\n\n00:00.000 --> 00:01.000\nHello\n'

describe.each([false, true])('with federate_unlisted: %s', (unlistedIsTold) => {
  let node: FederatedNode
  /** Follows account, channel and instance. */
  let near: FakePeer
  let bytes: Buffer
  let channelId: number
  /** A private video; account, channel and instance have sent all earlier activities. */
  let marker: string

  beforeAll(async () => {
    ;[node, near] = await Promise.all([
      startFederatedNode({ federation: { videos: { federate_unlisted: unlistedIsTold } } }),
      startFakePeer(),
    ])
    bytes = await readFile(await media('small.mp4'))
    const { account } = await introduce(node, near, 'nora')
    const targets = ['/accounts/peertube', '/accounts/root', '/video-channels/root_channel']
    for (const path of targets) await node.deliver(account, near.activity(account, 'Follow', node.base + path))
    await near.awaited('the answers', () => near.of('Accept').length === 3)
    const me = await node.client.get<{ videoChannels: { id: number }[] }>('/api/v1/users/me')
    channelId = me.videoChannels[0]?.id ?? 0
    marker = (await node.upload(bytes, { privacy: '3' })).uuid
  })
  afterAll(async () => {
    await Promise.all([near?.close(), node?.stop()])
  })
  beforeEach(() => {
    near.received.length = 0
  })

  const put = (uuid: string, fields: object) => node.client.send('PUT', `/api/v1/videos/${uuid}`, fields)
  const read = async (url: string) => {
    const answer = await fetch(url, { headers: { accept: 'application/activity+json' }, redirect: 'manual' })
    return { status: answer.status, body: answer.status === 200 ? ((await answer.json()) as JsonObject) : {} }
  }
  /** The activities about a video, once all earlier ones were sent, regardless of their actor. */
  async function saidOf(uuid: string): Promise<JsonObject[]> {
    await put(marker, { privacy: PUBLIC })
    const isLast = ({ activity: { type, object } }: { activity: JsonObject }) =>
      type !== 'Delete' && JSON.stringify(object).includes(marker)
    await near.awaited('the last', () => near.received.filter(isLast).length === 3)
    await put(marker, { privacy: PRIVATE })
    const said = near.received.map(({ activity }) => activity).filter((one) => JSON.stringify(one).includes(uuid))
    near.received.length = 0
    return said
  }
  const typesOf = (said: JsonObject[]) => [...new Set(said.map(({ type }) => String(type)))].toSorted()
  async function setParts(uuid: string): Promise<void> {
    const form = new FormData()
    form.set('captionfile', new File([VTT], 'fr.vtt', { type: 'text/vtt' }))
    await node.client.send('PUT', `/api/v1/videos/${uuid}/captions/fr`, form)
    await node.client.send('PUT', `/api/v1/videos/${uuid}/chapters`, { chapters: [{ timecode: 0, title: 'A part' }] })
    await node.client.send('PUT', `/api/v1/videos/${uuid}/rate`, { rating: 'like' })
  }
  async function playlistWith(uuid: string) {
    const form = new FormData()
    const fields = { displayName: 'Good ones', privacy: '1', videoChannelId: String(channelId) }
    for (const [name, value] of Object.entries(fields)) form.set(name, value)
    const { videoPlaylist } = await node.client.send<{ videoPlaylist: { uuid: string } }>('POST', '/api/v1/video-playlists', form)
    const { videoPlaylistElement } = await node.client.send<{ videoPlaylistElement: { id: number } }>(
      'POST',
      `/api/v1/video-playlists/${videoPlaylist.uuid}/videos`,
      { videoId: uuid },
    )
    const url = `${node.base}/video-playlists/${videoPlaylist.uuid}`
    return { url, element: `${url}/videos/${videoPlaylistElement.id}` }
  }

  it('each change of privacy sends a Create, an Update or a Delete of the video, or nothing', async () => {
    const { uuid, url } = await node.upload(bytes)
    expect(typesOf(await saidOf(uuid))).toEqual(['Announce', 'Create'])
    let wasTold = true
    for (const privacy of [UNLISTED, PRIVATE, UNLISTED, PUBLIC, INTERNAL, PUBLIC, PRIVATE, INTERNAL, UNLISTED, PUBLIC]) {
      await put(uuid, { privacy })
      const said = await saidOf(uuid)
      const isAnnounced = privacy === PUBLIC || (privacy === UNLISTED && unlistedIsTold)
      const expected = isAnnounced ? (wasTold ? ['Update'] : ['Announce', 'Create']) : wasTold ? ['Delete'] : []
      expect({ privacy, types: typesOf(said) }).toEqual({ privacy, types: expected })
      if (privacy === UNLISTED)
        for (const one of said.filter(({ type }) => type !== 'Delete')) {
          expect(JSON.stringify([one.to, one.cc])).not.toContain('#Public')
        }
      expect((await read(url)).status).toBe(privacy === PUBLIC || privacy === UNLISTED ? 200 : 401)
      wasTold = isAnnounced
    }
  })

  it.each([
    ['unlisted', { privacy: '2' }, unlistedIsTold],
    ['private', { privacy: '3' }, false],
    ['internal', { privacy: '4' }, false],
    ['protected by a password', { privacy: '5', 'videoPasswords[0]': 'secret' }, false],
    ['scheduled', { privacy: '3', 'scheduleUpdate[updateAt]': IN_A_YEAR, 'scheduleUpdate[privacy]': '1' } as Record<string, string>, false],
  ] as [string, Record<string, string>, boolean][])(
    'what hangs on a video that is %s is told only if it is',
    async (_what, fields, isAnnounced) => {
      const { uuid, url } = await node.upload(bytes, fields)
      await setParts(uuid)
      await put(uuid, { name: 'Another name' })
      const { url: playlist, element } = await playlistWith(uuid)
      expect((await saidOf(uuid)).length > 0).toBe(isAnnounced)
      const isOpen = fields.privacy === '2'
      expect((await read(`${url}/chapters`)).status === 200).toBe(isOpen)
      expect((await read(`${url}/likes?page=1`)).status === 200).toBe(isOpen)
      expect(await read(element)).toMatchObject({ status: isOpen ? 200 : 404 })
      const { body } = await read(`${playlist}?page=1`)
      expect(body).toMatchObject({ totalItems: isOpen ? 1 : 0, orderedItems: isOpen ? [element] : [] })
      await node.client.send('DELETE', `/api/v1/videos/${uuid}`)
      expect(typesOf(await saidOf(uuid))).toEqual(isAnnounced ? ['Delete'] : [])
    },
  )

  it('comments and ratings are removed with a video that is no longer public', async () => {
    const { uuid, url } = await node.upload(bytes)
    await setParts(uuid)
    const { url: playlist, element } = await playlistWith(uuid)
    expect(await read(element)).toMatchObject({ status: 200, body: { url } })
    await put(uuid, { privacy: PRIVATE })
    await saidOf(uuid)
    for (const part of ['', '/chapters', '/likes', '/comments', '/announces']) {
      expect([part, (await read(url + part)).status]).toEqual([part, 401])
    }
    expect((await read(element)).status).toBe(404)
    expect((await read(`${playlist}?page=1`)).body).toMatchObject({ totalItems: 0, orderedItems: [] })
    const captions = await fetch(`${node.base}/api/v1/videos/${uuid}/captions`)
    expect(captions.status).toBe(401)
  })

  it('a scheduled video is not sent in any way, not even by a playlist', async () => {
    const { id, uuid, url } = await node.upload(bytes, { privacy: '3' })
    await node.query("update video set privacy = 1, state = 'to-transcode' where id = $1", [id])
    await setParts(uuid)
    await put(uuid, { name: 'Not yet' })
    const { url: playlist, element } = await playlistWith(uuid)
    expect(typesOf(await saidOf(uuid))).toEqual([])
    for (const address of [url, `${url}/chapters`, `${url}/likes`, element]) {
      expect([address, (await read(address)).status]).toEqual([address, 404])
    }
    expect((await read(`${playlist}?page=1`)).body).toMatchObject({ totalItems: 0, orderedItems: [] })
  })
})
