// Torrents of local videos, the tracker of their swarms, and what other servers get of them.

import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import bencode from 'bencode'
import parseTorrent from 'parse-torrent'
import WebTorrent, { type ClientOptions } from 'webtorrent'
import { type FakePeer, type JsonObject, startFakePeer } from '../support/fake-peer.ts'
import { media } from '../support/media.ts'
import { storedNames } from '../support/node.ts'
import { until } from '../support/until.ts'
import { type FederatedNode, introduce, startFederatedNode } from './support.ts'

interface FileView {
  id: number
  magnetUri: string | null
  torrentUrl: string | null
  torrentDownloadUrl: string | null
  fileUrl: string
  size: number
  storage: number | null
  resolution: { id: number }
}
interface VideoView {
  name: string
  trackerUrls: string[]
  files: FileView[]
  streamingPlaylists: { playlistUrl: string; segmentsSha256Url: string; files: FileView[] }[]
}

let local: FederatedNode
let near: FakePeer
let bytes: Buffer
/** One web video and one HLS playlist. */
let uuid: string

beforeAll(async () => {
  const resolutions = { '0p': false, '144p': false, '240p': false, '360p': false, '480p': false, '720p': false }
  ;[local, near, bytes] = await Promise.all([
    startFederatedNode({
      tracker: { enabled: true },
      transcoding: {
        enabled: true,
        always_transcode_original_resolution: true,
        resolutions,
        web_videos: { enabled: true },
        hls: { enabled: true },
      },
    }),
    startFakePeer(),
    media('small.mp4').then((path) => readFile(path)),
  ])
  const { account } = await introduce(local, near, 'nora')
  await local.deliver(account, near.activity(account, 'Follow', `${local.base}/accounts/root`))
  uuid = (await local.upload(bytes)).uuid
})
afterAll(async () => {
  await Promise.all([near?.close(), local?.stop()])
})

const viewOf = (of = uuid): Promise<VideoView> => local.client.get<VideoView>(`/api/v1/videos/${of}`)
const filesOf = ({ files, streamingPlaylists }: VideoView): FileView[] => [
  ...files,
  ...streamingPlaylists.flatMap((playlist) => playlist.files),
]
const jobs = () =>
  local.query(
    `select 1 from job where type in ('manage-video-torrent', 'video-transcoding', 'video-files-placement')
       and state not in ('completed', 'failed')`,
  )

/** The view of the video, once all its files are complete. */
async function settled(of = uuid): Promise<VideoView> {
  await until(async () => (await jobs()).length === 0, { what: 'the end of the jobs' })
  return await viewOf(of)
}

const torrentAt = async (url: string | null) => {
  const response = await fetch(url ?? '')
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/x-bittorrent'])
  return await parseTorrent(Buffer.from(await response.arrayBuffer()))
}

const infoHashesOf = (files: FileView[]): Promise<string[]> =>
  Promise.all(files.map(async ({ torrentUrl }) => (await torrentAt(torrentUrl)).infoHash ?? ''))

/** Torrents in the store, without those that wait for removal. */
/** Torrents whose web seed is the local URL, which is stable when the file moves into object storage or back. */
const seedOf = (fileUrl: string): string => `${local.base}/static${new URL(fileUrl).pathname.replace(/^\/static/, '')}`

async function torrentsInStore(): Promise<string[]> {
  const condemned = await local.query<{ name: string }>("select name from pending_file where kind = 'torrents'")
  const names = await storedNames(local.node, 'torrents')
  return names.filter((name) => !name.startsWith('.') && !condemned.some((one) => one.name === name)).sort()
}

async function change(fields: Record<string, string>): Promise<FileView[]> {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.set(name, value)
  await local.client.send('PUT', `/api/v1/videos/${uuid}`, form)
  return filesOf(await settled())
}

describe('the torrents of a remote video', () => {
  it('are fetched, and cached', async () => {
    const foreign = await startFederatedNode()
    try {
      const files = filesOf(await settled())
      const search = encodeURIComponent(`${local.base}/videos/watch/${uuid}`)
      const found = await foreign.client.get<{ data: { uuid: string }[] }>(`/api/v1/search/videos?search=${search}`)
      const view = await foreign.client.get<VideoView>(`/api/v1/videos/${found.data[0]?.uuid}`)
      const remote = filesOf(view)
      expect(remote).toHaveLength(2)
      for (const { torrentUrl, torrentDownloadUrl, magnetUri, storage } of remote) {
        expect(storage).toBeNull()
        const name = torrentUrl?.replace(`${foreign.base}/lazy-static/torrents/`, '')
        expect(name).toMatch(/^[0-9a-f-]{36}-\d+\.torrent$/)
        const [torrent, info] = [await torrentAt(torrentUrl), await parseTorrent(magnetUri ?? '')]
        expect(torrent.infoHash).toBe(info.infoHash)
        expect(torrentDownloadUrl).toBe(`${foreign.base}/download/torrents/${name}`)
        const download = await fetch(torrentDownloadUrl ?? '')
        expect([download.status, download.headers.get('content-disposition')]).toEqual([200, expect.stringContaining('.torrent')])
      }
      // Clients of torrents get their original URLs.
      expect(remote.map(({ magnetUri }) => magnetUri)).toEqual(files.map(({ magnetUri }) => magnetUri))
    } finally {
      await foreign.stop()
    }
  })
})

describe('the torrents of a video', () => {
  it('are made of each file, and name it, its URL and the local tracker', async () => {
    const video = await settled()
    const tracker = `${local.base}/tracker/announce`
    const socket = `${local.base.replace('http', 'ws')}/tracker/socket`
    expect(video.trackerUrls).toEqual([tracker, socket])
    const files = filesOf(video)
    expect(files).toHaveLength(2)
    for (const file of files) {
      const torrent = await torrentAt(file.torrentUrl)
      expect(torrent).toMatchObject({
        name: `A video of ours ${file.resolution.id}p.mp4`,
        length: file.size,
        announce: [socket, tracker],
        urlList: [seedOf(file.fileUrl)],
      })
      expect(await parseTorrent(file.magnetUri ?? '')).toMatchObject({
        infoHash: torrent.infoHash,
        name: 'A video of ours',
        xs: file.torrentUrl,
        announce: [tracker, socket],
        urlList: [seedOf(file.fileUrl)],
      })
      expect(file.torrentDownloadUrl).toBe(file.torrentUrl?.replace('/lazy-static/', '/download/'))
    }
    expect(files[0]?.torrentUrl).toMatch(/\/lazy-static\/torrents\/[\w-]{36}-\d+\.torrent$/)
    expect(files[1]?.torrentUrl).toMatch(/\/lazy-static\/torrents\/[\w-]{36}-\d+-hls\.torrent$/)
  })

  it('are listed in the document of the video, with the swarms of its playlist and the tracker', async () => {
    const video = await settled()
    const [playlist] = video.streamingPlaylists
    const linked = (document: JsonObject) => document.url as JsonObject[]
    await until(
      async () =>
        [...near.of('Create'), ...near.of('Update')].some(({ activity }) =>
          linked(activity.object as JsonObject).some((link) => link.mediaType === 'application/x-bittorrent'),
        ),
      { what: 'an Update with torrents' },
    )
    const document = (await (
      await fetch(`${local.base}/videos/watch/${uuid}`, { headers: { accept: 'application/activity+json' } })
    ).json()) as JsonObject
    const links = linked(document)
    const hls = links.find(({ mediaType }) => mediaType === 'application/x-mpegURL')
    const tags = hls?.tag as JsonObject[]
    const beside = (of: JsonObject[], file: FileView | undefined) => {
      expect(of).toContainEqual(
        expect.objectContaining({
          type: 'Link',
          mediaType: 'application/x-bittorrent',
          href: file?.torrentUrl,
          height: expect.any(Number),
          fps: expect.any(Number),
        }),
      )
      expect(of).toContainEqual(
        expect.objectContaining({
          mediaType: 'application/x-bittorrent;x-scheme-handler/magnet',
          href: file?.magnetUri,
        }),
      )
    }
    beside(links, video.files[0])
    beside(tags, playlist?.files[0])
    const [row] = await local.query<{ hashes: string[] }>('select p2p_media_loader_info_hashes as hashes from streaming_playlist')
    expect(row?.hashes).toEqual([hash('sha1', `2${playlist?.playlistUrl}+V0`)])
    expect(tags.filter(({ type }) => type === 'Infohash')).toEqual([{ type: 'Infohash', name: row?.hashes[0] }])
    expect(links.slice(-2)).toEqual([
      { type: 'Link', name: 'tracker-http', rel: ['tracker', 'http'], href: video.trackerUrls[0] },
      { type: 'Link', name: 'tracker-websocket', rel: ['tracker', 'websocket'], href: video.trackerUrls[1] },
    ])
  })

  it('are renamed with it, at a new URL, and leave no old files', async () => {
    const before = filesOf(await settled())
    const after = await change({ name: 'Another name' })
    for (const [place, file] of after.entries()) {
      expect(file.torrentUrl).not.toBe(before[place]?.torrentUrl)
      expect(await torrentAt(file.torrentUrl)).toMatchObject({ name: expect.stringMatching(/^Another name /) })
      expect(file.magnetUri).toContain('&dn=Another+name&')
    }
    expect(await torrentsInStore()).toEqual(after.map(({ torrentUrl }) => torrentUrl?.split('/').at(-1)).sort())
  })

  it('have no web seed while the video is private, and keep their info hash', async () => {
    const hashes = await infoHashesOf(filesOf(await settled()))
    const hidden = await Promise.all((await change({ privacy: '3' })).map(({ torrentUrl }) => torrentAt(torrentUrl)))
    expect(hidden.map(({ infoHash, urlList }) => [infoHash, urlList])).toEqual(hashes.map((one) => [one, []]))
    const shown = await change({ privacy: '1' })
    expect(await infoHashesOf(shown)).toEqual(hashes)
    for (const { torrentUrl, fileUrl } of shown) expect(await torrentAt(torrentUrl)).toMatchObject({ urlList: [seedOf(fileUrl)] })
  })

  it('are made for files without one by the periodic job', async () => {
    const hashes = await infoHashesOf(filesOf(await settled()))
    await local.query('update video_file set torrent_filename = null, magnet_url = null, info_hash = null')
    await local.node.restart()
    await until(async () => filesOf(await viewOf()).every(({ magnetUri }) => magnetUri !== null), {
      what: 'the torrents',
    })
    expect(await infoHashesOf(filesOf(await settled()))).toEqual(hashes)
  })
})

const bytesOf = (hex: string): string => hex.replace(/../g, (byte) => `%${byte}`)
const peerName = (letter: string): string => letter.repeat(20)

async function announce(infoHash: string, port: number, more = ''): Promise<Record<string, unknown>> {
  const query = `info_hash=${bytesOf(infoHash)}&peer_id=${peerName('p')}&port=${port}&left=0&compact=1${more}`
  return await ask('announce', query)
}

async function ask(action: string, query: string): Promise<Record<string, unknown>> {
  const response = await fetch(`${local.base}/tracker/${action}?${query}`)
  expect(response.status).toBe(200)
  const answer = bencode.decode(Buffer.from(await response.arrayBuffer()))
  const reason = answer['failure reason']
  return reason ? { 'failure reason': Buffer.from(reason).toString() } : answer
}

describe('the tracker over HTTP', () => {
  it('introduces the peers of a swarm to each other', async () => {
    const [infoHash = ''] = await infoHashesOf(filesOf(await settled()))
    expect(await announce(infoHash, 7001)).toMatchObject({ complete: 1, incomplete: 0 })
    const answer = await announce(infoHash, 7002)
    expect(answer).toMatchObject({ complete: 2 })
    expect(Buffer.from(answer.peers as Uint8Array).toString('hex')).toContain(`7f000001${(7001).toString(16)}`)
    const { files } = await ask('scrape', `info_hash=${bytesOf(infoHash)}`)
    // Peer ids that are no text are read as hexadecimal.
    expect(files).toEqual({ [infoHash]: { complete: 2, incomplete: 0, downloaded: 2 } })
    for (const port of [7001, 7002]) await announce(infoHash, port, '&event=stopped')
    expect(await announce(infoHash, 7003, '&event=stopped')).toMatchObject({ complete: 0 })
  })

  it.each([
    ['nothing', '', 'invalid info_hash'],
    ['a short hash', `info_hash=abc&peer_id=${peerName('p')}&port=1`, 'invalid info_hash'],
    ['no peer', `info_hash=${peerName('a')}&port=1`, 'invalid peer_id'],
    ['no port', `info_hash=${peerName('a')}&peer_id=${peerName('p')}&port=0`, 'invalid port'],
    ['an unknown hash', `info_hash=${peerName('a')}&peer_id=${peerName('p')}&port=1`, 'unknown info_hash'],
    ['a wild event', `info_hash=${peerName('a')}&peer_id=${peerName('p')}&port=1&event=error`, 'invalid event'],
  ])('refuses %s', async (_, query, reason) => {
    expect(await ask('announce', query)).toEqual({ 'failure reason': reason })
  })

  it('does not list all swarms, nor thousands at once', async () => {
    expect(await ask('scrape', '')).toEqual({ 'failure reason': 'invalid info_hash' })
    const many = Array.from({ length: 60 }, () => `info_hash=${peerName('a')}`).join('&')
    expect(await ask('scrape', many)).toEqual({ 'failure reason': 'invalid info_hash' })
  })

  it('ignores unknown query parameters', async () => {
    const [infoHash = ''] = await infoHashesOf(filesOf(await settled()))
    for (const event of ['started', 'stopped'])
      await announce(infoHash, 7004, `&event=${event}&socket=1&ip=1.2.3.4&type=ws&numwant=-1&action=9`)
    expect(await announce(infoHash, 7004, '&event=stopped')).toMatchObject({ complete: 0 })
  })
})

describe('the tracker over WebSocket', () => {
  const sockets: Peer[] = []
  afterAll(() => {
    for (const { socket } of sockets) socket.close()
  })

  interface Peer {
    socket: WebSocket
    said: Record<string, unknown>[]
    say(message: object | string): void
    /** Waits for the first message that matches. */
    hears(fits: (message: Record<string, unknown>) => boolean): Promise<Record<string, unknown>>
  }

  async function connect(): Promise<Peer> {
    const socket = new WebSocket(`${local.base.replace('http', 'ws')}/tracker/socket`)
    const said: Peer['said'] = []
    socket.addEventListener('message', ({ data }) => said.push(JSON.parse(String(data))))
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve)
      socket.addEventListener('error', reject)
    })
    const peer: Peer = {
      socket,
      said,
      say: (message) => socket.send(typeof message === 'string' ? message : JSON.stringify(message)),
      async hears(fits) {
        await until(async () => said.some(fits), { what: 'a message' })
        return said.find(fits) ?? {}
      },
    }
    sockets.push(peer)
    return peer
  }
  const isClosed = ({ socket }: Peer) => until(async () => socket.readyState === WebSocket.CLOSED, { what: 'the end' })
  const latin1 = (hex: string): string => Buffer.from(hex, 'hex').toString('latin1')
  const swarmOf = async (): Promise<string> => latin1((await infoHashesOf(filesOf(await settled())))[0] ?? '')
  const announceOf = (info_hash: string, peer: string, more: object = {}) => ({
    action: 'announce',
    info_hash,
    peer_id: peerName(peer),
    event: 'started',
    left: 0,
    numwant: 1,
    ...more,
  })

  it('relays offers and answers between the players of a playlist', async () => {
    const [row] = await local.query<{ hash: string }>('select p2p_media_loader_info_hashes[1] as hash from streaming_playlist')
    const swarm = latin1(row?.hash ?? '')
    const [one, other] = [await connect(), await connect()]
    one.say(announceOf(swarm, 'a'))
    expect(await one.hears(({ action }) => action === 'announce')).toMatchObject({ complete: 1, info_hash: swarm })
    const offer = { type: 'offer', sdp: 'an offer' }
    other.say(announceOf(swarm, 'b', { offers: [{ offer, offer_id: 'x' }] }))
    const heard = await one.hears((message) => 'offer' in message)
    expect(heard).toEqual({ action: 'announce', offer, offer_id: 'x', peer_id: peerName('b'), info_hash: swarm })
    const answer = { type: 'answer', sdp: 'an answer' }
    one.say(announceOf(swarm, 'a', { event: undefined, answer, offer_id: 'x', to_peer_id: peerName('b') }))
    expect(await other.hears((message) => 'answer' in message)).toMatchObject({ answer, peer_id: peerName('a') })
    other.socket.close()
    await isClosed(other)
    const { files } = await ask('scrape', `info_hash=${bytesOf(row?.hash ?? '')}`)
    expect(Object.values(files as object)).toEqual([{ complete: 1, incomplete: 0, downloaded: 1 }])
  })

  it('counts a peer that reconnects once', async () => {
    const swarm = await swarmOf()
    const peer = await connect()
    peer.say(announceOf(swarm, 'c'))
    const { complete } = await peer.hears(({ action }) => action === 'announce')
    // The same address may reconnect, and counts once.
    const again = await connect()
    again.say(announceOf(swarm, 'c'))
    expect(await again.hears(({ action }) => action === 'announce')).toMatchObject({ complete })
  })

  it.each([
    ['no JSON', 'hello'],
    ['null', 'null'],
    ['an unknown action', '{"action":"delete"}'],
    ['a hash that is no bytes', JSON.stringify(announceOf('\u4e00'.repeat(20), 'a'))],
    ['offers that are none', JSON.stringify(announceOf(peerName('a'), 'a', { offers: [null] }))],
    ['a list of offers that is none', JSON.stringify(announceOf(peerName('a'), 'a', { offers: { length: 5 } }))],
    ['ten thousand hashes', JSON.stringify({ action: 'scrape', info_hash: Array(10_000).fill(peerName('a')) })],
    ['an answer to nobody', JSON.stringify(announceOf(peerName('a'), 'a', { answer: 'x', to_peer_id: 5 }))],
    ['a deep thing', '['.repeat(100_000)],
  ])('rejects %s', async (_, message) => {
    const peer = await connect()
    peer.say(message)
    expect(await peer.hears(() => true)).toEqual({ 'failure reason': 'invalid message' })
  })

  it('rejects unknown swarms, and closes connections that send too much', async () => {
    const peer = await connect()
    peer.say(announceOf(peerName('z'), 'a'))
    expect(await peer.hears(() => true)).toMatchObject({ 'failure reason': 'unknown info_hash' })
    for (let count = 0; count < 10; count += 1) peer.say('nonsense')
    await isClosed(peer)
    const loud = await connect()
    loud.say('x'.repeat(300 * 1024))
    await isClosed(loud)
    const busy = await connect()
    for (let count = 0; count < 600; count += 1) busy.say({ action: 'scrape', info_hash: peerName('a') })
    await isClosed(busy)
    const crowded = await connect()
    for (let count = 0; count < 30; count += 1) crowded.say(announceOf(peerName('z'), String.fromCharCode(97 + count)))
    await crowded.hears((message) => message['failure reason'] === 'too many peers')
  })

  it('is not served without an Upgrade, nor at any other path', async () => {
    expect((await fetch(`${local.base}/tracker/socket`)).status).toBe(400)
    const socket = new WebSocket(`${local.base.replace('http', 'ws')}/tracker/other`)
    await new Promise((resolve) => socket.addEventListener('error', resolve))
    expect(socket.readyState).not.toBe(WebSocket.OPEN)
  })
})

describe('BitTorrent clients', () => {
  it('download from the URL of the file, and from each other by the tracker', async () => {
    const [file] = filesOf(await settled())
    const torrent = Buffer.from(await (await fetch(file?.torrentUrl ?? '')).arrayBuffer())
    const options: ClientOptions = {
      dht: false,
      lsd: false,
      utp: false,
      natUpnp: false,
      natPmp: false,
      webSeeds: true,
      tracker: { wrtc: false },
    }
    const first = new WebTorrent(options)
    const second = new WebTorrent({ ...options, webSeeds: false })
    try {
      const whole = await downloaded(first, torrent)
      expect(whole.equals(Buffer.from(await (await fetch(file?.fileUrl ?? '')).arrayBuffer()))).toBe(true)
      expect((await downloaded(second, torrent)).equals(whole)).toBe(true)
    } finally {
      await Promise.all([first, second].map((client) => new Promise<void>((done) => void client.destroy(() => done()))))
    }
  })

  const downloaded = (client: WebTorrent, torrent: Buffer) =>
    new Promise<Buffer>((resolve, reject) => {
      client.on('error', reject)
      client.add(torrent, {}, (added) => {
        added.on('error', reject)
        const done = () => added.files[0]?.arrayBuffer().then((content) => resolve(Buffer.from(content)), reject)
        if (added.done) void done()
        else added.on('done', () => void done())
      })
    })
})

describe('a removed video', () => {
  it('removes its torrents and its swarms', async () => {
    const files = filesOf(await settled())
    const [infoHash = ''] = await infoHashesOf(files)
    expect(await announce(infoHash, 7005)).toHaveProperty('complete')
    await local.client.send('DELETE', `/api/v1/videos/${uuid}`)
    const names = files.map(({ torrentUrl }) => torrentUrl?.split('/').at(-1) ?? '')
    const areGone = async () => !(await torrentsInStore()).some((name) => names.includes(name))
    await until(areGone, { what: 'the end of the torrents' })
    await until(async () => (await announce(infoHash, 7005))['failure reason'] === 'unknown info_hash', {
      what: 'the end of the swarm',
    })
  })
})
