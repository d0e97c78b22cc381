// A real HLS video of one node, mirrored by another: the copy plays, is listed by both, and is removed completely.

import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { media, serverFfmpeg } from '../support/media.ts'
import { storedNames } from '../support/node.ts'
import { until } from '../support/until.ts'
import { type FederatedNode, startFederatedNode } from './support.ts'

interface Video {
  id: number
  uuid: string
  files: { fileUrl: string; size: number; resolution: { id: number } }[]
  streamingPlaylists: {
    playlistUrl: string
    redundancies: { baseUrl: string }[]
    files: { fileUrl: string; size: number }[]
  }[]
}
interface Mirrored {
  total: number
  data: {
    id: number
    uuid: string
    redundancies: Record<'files' | 'streamingPlaylists', { id: number; fileUrl: string; strategy: string | null; size: number }[]>
  }[]
}

const transcoding = { enabled: true, hls: { enabled: true }, web_videos: { enabled: true } }

let a: FederatedNode
let b: FederatedNode
let uuid: string

const on = (node: FederatedNode) => node.client.get<Video>(`/api/v1/videos/${uuid}`)
const listed = (node: FederatedNode, target: 'my-videos' | 'remote-videos') =>
  node.client.get<Mirrored>(`/api/v1/server/redundancy/videos?target=${target}`)
const storedIn = async (node: FederatedNode) => {
  const names = await storedNames(node.node, 'redundancy')
  return names.map((name) => basename(name))
}

beforeAll(async () => {
  ;[a, b] = await Promise.all([startFederatedNode({ transcoding }), startFederatedNode()])
  await b.client.send('POST', '/api/v1/server/following', { hosts: [a.host] })
  await until(async () => (await b.client.get<{ data: { state: string }[] }>('/api/v1/server/following')).data[0]?.state === 'accepted', {
    what: 'the follow',
  })
  uuid = (await a.upload(await readFile(await media('small.mp4')), { name: 'To be mirrored' })).uuid
  await until(
    async () => {
      const [row] = await b.query('select 1 from streaming_playlist p join video v on v.id = p.video_id where v.uuid = $1', [uuid])
      return row
    },
    { what: 'the video with its playlist' },
  )
  await until(async () => (await a.query("select 1 from transcoding where state <> 'done'")).length === 0)
  await until(async () => (await on(b)).streamingPlaylists[0]?.files.length === (await on(a)).streamingPlaylists[0]?.files.length)
})
afterAll(async () => {
  await Promise.all([a?.stop(), b?.stop()])
})

describe('a video that another node mirrors', () => {
  it('is copied whole, and both nodes list the copies', async () => {
    const { id, files } = await on(b)
    await b.client.send('POST', '/api/v1/server/redundancy/videos', { videoId: id })
    const copies = files.length + 1
    await until(
      async () => {
        const [row] = await a.query<{ count: number }>('select count(*)::int as count from redundancy')
        return row?.count === copies
      },
      { what: 'the news of the copies' },
    )
    const mine = await listed(b, 'remote-videos')
    expect(mine).toMatchObject({
      total: 1,
      data: [
        {
          uuid,
          redundancies: {
            files: files.map(() => ({ strategy: 'manual' })),
            streamingPlaylists: [{ fileUrl: `${b.base}/static/redundancy/hls/${uuid}`, strategy: 'manual' }],
          },
        },
      ],
    })
    const remote = await listed(a, 'my-videos')
    expect(remote).toMatchObject({
      total: 1,
      data: [{ uuid, redundancies: { streamingPlaylists: [{ strategy: null }] } }],
    })
    expect(remote.data[0]?.redundancies.files).toHaveLength(files.length)
    expect(await listed(a, 'remote-videos')).toEqual({ total: 0, data: [] })
    expect(await b.query('select * from pending_file')).toEqual([])
  })

  it('plays from the copy, which is offered to players', async () => {
    const [playlist] = (await on(a)).streamingPlaylists
    expect(playlist?.redundancies).toEqual([{ baseUrl: `${b.base}/static/redundancy/hls/${uuid}` }])
    const master = `${playlist?.redundancies[0]?.baseUrl}/${playlist?.playlistUrl.split('/').at(-1)}`
    const copied = await fetch(master)
    expect(copied.headers.get('access-control-allow-origin')).toBe('*')
    expect(await copied.text()).toBe(await (await fetch(String(playlist?.playlistUrl))).text())
    expect(await lengthOf(master)).toBeCloseTo(2, 0)
    const { href } = new URL(String(playlist?.files[0]?.fileUrl).split('/').at(-1) ?? '', `${master}`)
    const range = await fetch(href, { headers: { range: 'bytes=0-99', origin: 'https://players.example' } })
    expect([range.status, range.headers.get('access-control-allow-origin')]).toEqual([206, '*'])
    expect(range.headers.get('content-range')).toBe(`bytes 0-99/${playlist?.files[0]?.size}`)
    expect((await range.arrayBuffer()).byteLength).toBe(100)
    const web = (await listed(b, 'remote-videos')).data[0]?.redundancies.files[0]
    expect(await lengthOf(String(web?.fileUrl))).toBeCloseTo(2, 0)
  })

  it('is not copied twice', async () => {
    const { id } = await on(b)
    await expect(b.client.send('POST', '/api/v1/server/redundancy/videos', { videoId: id })).rejects.toThrow(/409/)
  })

  it('has documents of its copies at their ids', async () => {
    const headers = { accept: 'application/activity+json' }
    const rows = await b.query<{ url: string }>('select url from redundancy')
    for (const { url } of rows) {
      const answer = await fetch(url, { headers })
      expect(await answer.json()).toMatchObject({
        id: url,
        type: 'CacheFile',
        object: `${a.base}/videos/watch/${uuid}`,
        expires: null,
      })
    }
    const creation = await fetch(`${b.base}/redundancy/streaming-playlists/hls/${uuid}/activity`, { headers })
    expect(await creation.json()).toMatchObject({ type: 'Create', object: { type: 'CacheFile' } })
  })

  it('is removed by both when the copies are removed, with the files', async () => {
    const [video] = (await listed(b, 'remote-videos')).data
    const { files = [], streamingPlaylists = [] } = video?.redundancies ?? {}
    for (const { id } of [...files, ...streamingPlaylists]) {
      await b.client.send('DELETE', `/api/v1/server/redundancy/videos/${id}`)
    }
    await until(async () => (await a.query('select 1 from redundancy')).length === 0, { what: 'the Undos' })
    await until(async () => (await b.query('select 1 from redundancy union all select 1 from pending_file')).length === 0)
    expect(await storedIn(b)).toEqual([])
    expect((await on(a)).streamingPlaylists[0]?.redundancies).toEqual([])
    const gone = await fetch(`${b.base}/static/redundancy/hls/${uuid}/x.m3u8`)
    expect(gone.status).toBe(404)
  })

  it('is mirrored again afterwards, and its copies are removed with the video', async () => {
    const { id } = await on(b)
    await b.client.send('POST', '/api/v1/server/redundancy/videos', { videoId: id })
    await until(async () => (await on(a)).streamingPlaylists[0]?.redundancies.length === 1, {
      what: 'the news of the copy',
    })
    await a.client.send('DELETE', `/api/v1/videos/${uuid}`)
    await until(async () => (await b.query('select 1 from redundancy')).length === 0, { what: 'the Delete' })
    await until(async () => (await storedIn(b)).length === 0, { what: 'the end of the files' })
  })
})

async function lengthOf(url: string): Promise<number> {
  const { ffprobePath } = await serverFfmpeg()
  const { stdout } = await promisify(execFile)(ffprobePath, ['-v', 'error', '-show_entries', 'format=duration', '-of', 'csv=p=0', url])
  return Number(stdout.trim())
}
