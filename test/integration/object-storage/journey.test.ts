// A video from upload to removal, on the file system and in object storage: its files are where the configuration puts them, are served to
// authorized readers, and are removed with it.

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import pg from 'pg'
import { type Client, login } from '../../../scripts/demo/client.ts'
import { uploadResumable } from '../../../scripts/demo/resumable.ts'
import { swarmsOfPlaylist } from '../../../src/media/index.ts'
import { media } from '../../support/media.ts'
import { startTestNode, type TestNode } from '../../support/node.ts'
import { BUCKETS, everythingIn, startS3, type TestS3 } from '../../support/s3.ts'
import { eventually } from '../../support/until.ts'

const LADDER = {
  '0p': false,
  '144p': true,
  '240p': true,
  '360p': false,
  '480p': false,
  '720p': false,
  '1080p': false,
  '1440p': false,
  '2160p': false,
}
const BASE = {
  transcoding: { enabled: true, resolutions: LADDER, web_videos: { enabled: true } },
  storyboards: { enabled: true },
  tracker: { enabled: true },
  video_file: { update: { enabled: true } },
}
/** Folders of the file system with files of videos. */
const FOLDERS = [
  'web-videos',
  'streaming-playlists',
  'original-video-files',
  'thumbnails',
  'previews',
  'captions',
  'storyboards',
  'tmp',
  'tmp-persistent',
]

interface File {
  fileUrl: string
  storage: number
  size: number
  resolution: { id: number }
}
interface View {
  uuid: string
  state: { id: number }
  thumbnailPath: string
  files: File[]
  streamingPlaylists: { playlistUrl: string; segmentsSha256Url: string; files: File[] }[]
}

let s3: TestS3
beforeAll(async () => {
  s3 = await startS3()
})
afterAll(() => s3.stop())

describe.each(['file system', 'object storage'] as const)('a video on the %s', (place) => {
  const inObjects = place === 'object storage'
  let node: TestNode
  let root: Client
  let pool: pg.Pool
  let channelId: number
  let video: { id: number; uuid: string }
  beforeAll(async () => {
    node = await startTestNode({ config: inObjects ? { ...BASE, ...everythingIn(s3.endpoint) } : BASE })
    pool = new pg.Pool({ connectionString: node.databaseUrl, max: 1 })
    pool.on('error', () => undefined)
    root = await login(node.base, node.username, node.password)
    channelId = (await root.get<{ videoChannels: { id: number }[] }>('/api/v1/users/me')).videoChannels[0]?.id ?? 0
  })
  afterAll(async () => {
    await pool?.end()
    await node?.stop()
  })

  const view = (): Promise<View> => root.get<View>(`/api/v1/videos/${video.uuid}`)
  const get = (url: string, headers: Record<string, string> = {}) => fetch(new URL(url, node.base), { headers, redirect: 'manual' })
  const swarms = async (): Promise<string[]> => {
    const { rows } = await pool.query<{ swarms: string[] }>(
      'select p2p_media_loader_info_hashes as swarms from streaming_playlist where video_id = $1',
      [video.id],
    )
    return rows[0]?.swarms ?? []
  }
  const filesOf = ({ files, streamingPlaylists }: View) => [...files, ...(streamingPlaylists[0]?.files ?? [])]
  const stored = async (): Promise<string[]> => {
    const local = await Promise.all(
      FOLDERS.map(async (folder) => {
        const path = join(node.dataDir, 'storage', folder)
        const entries = await readdir(path, { recursive: true, withFileTypes: true }).catch(() => [])
        return entries.filter((entry) => entry.isFile()).map(({ name }) => `disk:${folder}/${name}`)
      }),
    )
    const remote = await Promise.all(BUCKETS.map((bucket) => s3.keys(bucket)))
    return [...local.flat(), ...remote.flat().map((name) => `bucket:${name}`)]
  }

  async function complete(): Promise<View> {
    await eventually(async () => {
      const { files, streamingPlaylists } = await view()
      expect([files.length, streamingPlaylists[0]?.files.length]).toEqual([2, 2])
      const { storyboards } = await root.get<{ storyboards: unknown[] }>(`/api/v1/videos/${video.uuid}/storyboards`)
      expect(storyboards).toHaveLength(1)
    })
    return await view()
  }

  it('is uploaded in chunks, transcoded, and stored where the configuration says', async () => {
    const bytes = await readFile(await media('small.mp4'))
    const answer = await uploadResumable(root, {
      bytes,
      filename: 'small.mp4',
      chunkSize: Math.ceil(bytes.length / 3),
      interrupt: async () => {},
      fields: { channelId, name: 'A video', privacy: 1 },
    })
    video = answer.video
    const found = await complete()
    const kept = await stored()
    const elsewhere = inObjects ? /^disk:(?!tmp)/ : /^bucket:/
    expect(kept.filter((name) => elsewhere.test(name))).toEqual([])
    for (const { storage, fileUrl } of filesOf(found)) {
      expect(storage).toBe(inObjects ? 1 : 0)
      expect(fileUrl.startsWith(inObjects ? `${s3.endpoint}/` : `${node.base}/static/`)).toBe(true)
    }
  })

  it('is served at its URLs, in ranges, and plays from its playlists', async () => {
    const found = await view()
    for (const { fileUrl, size } of filesOf(found)) {
      const answer = await fetch(fileUrl, { headers: { range: 'bytes=10-19' } })
      expect([answer.status, answer.headers.get('content-range')]).toEqual([206, `bytes 10-19/${size}`])
      expect(answer.headers.get('content-type')).toBe('video/mp4')
    }
    const [playlist] = found.streamingPlaylists
    const master = playlist?.playlistUrl ?? ''
    const text = await (await fetch(master)).text()
    const renditions = text.split('\n').filter((line) => line.endsWith('.m3u8'))
    expect(renditions).toHaveLength(2)
    for (const name of renditions) {
      const rendition = await fetch(new URL(name, master))
      expect(rendition.headers.get('content-type')).toMatch(/mpegurl/)
      const [, map = ''] = /URI="([^"]+)"/.exec(await rendition.text()) ?? []
      expect((await fetch(new URL(map, rendition.url), { headers: { range: 'bytes=0-3' } })).status).toBe(206)
    }
    const hashes = await fetch(playlist?.segmentsSha256Url ?? '')
    expect(Object.keys((await hashes.json()) as object)).toHaveLength(2)
  })

  it('is sent to other servers with the same URLs', async () => {
    const document = await get(`/videos/watch/${video.uuid}`, { accept: 'application/activity+json' })
    const text = await document.text()
    const found = await view()
    for (const { fileUrl } of filesOf(found)) expect(text).toContain(JSON.stringify(fileUrl))
    expect(text).toContain(JSON.stringify(found.streamingPlaylists[0]?.playlistUrl))
  })

  it('is served at its earlier URLs, by redirects where it has moved', async () => {
    const { files, streamingPlaylists } = await view()
    const name = files[0]?.fileUrl.split('/').at(-1)
    const old = await get(`/static/web-videos/${name}`, { range: 'bytes=0-9' })
    expect([old.status, old.headers.get('location')]).toEqual(inObjects ? [302, files[0]?.fileUrl] : [206, null])
    const master = streamingPlaylists[0]?.playlistUrl.split('/').at(-1)
    const text = await (await get(`/static/streaming-playlists/hls/${video.uuid}/${master}`)).text()
    const rendition = text.split('\n').find((line) => line.endsWith('.m3u8'))
    const answer = await get(`/static/streaming-playlists/hls/${video.uuid}/${rendition}`)
    expect(answer.status).toBe(inObjects ? 302 : 200)
    expect((await get('/static/web-videos/nothing.mp4')).status).toBe(404)
  })

  it('has its pictures and captions', async () => {
    const form = new FormData()
    form.set('captionfile', new File(['WEBVTT\n\n00:00:01.000 --> 00:00:02.000\nHello\n'], 'c.vtt', { type: 'text/vtt' }))
    expect((await root.raw(`/api/v1/videos/${video.uuid}/captions/fr`, { method: 'PUT', body: form })).status).toBe(204)
    const captions = await root.get<{ data: { captionPath: string }[] }>(`/api/v1/videos/${video.uuid}/captions`)
    const { storyboards } = await root.get<{ storyboards: { storyboardPath: string }[] }>(`/api/v1/videos/${video.uuid}/storyboards`)
    const paths = [(await view()).thumbnailPath, captions.data[0]?.captionPath, storyboards[0]?.storyboardPath]
    for (const path of paths) {
      const answer = await get(path ?? '')
      expect(answer.status).toBe(200)
      const again = await get(path ?? '', { 'if-none-match': answer.headers.get('etag') ?? '' })
      expect(again.status).toBe(304)
    }
  })

  it('is served to its owner alone once it is private, through this server', async () => {
    const before = await view()
    await root.send('PUT', `/api/v1/videos/${video.uuid}`, { privacy: 3 })
    const found = await view()
    const way = inObjects ? 'object-storage-proxy' : 'static'
    for (const { fileUrl, size } of filesOf(found)) {
      expect(fileUrl).toMatch(new RegExp(`^${node.base}/${way}/(web-videos|streaming-playlists/hls)/private/`))
      expect((await get(fileUrl)).status).toBe(403)
      const range = await root.raw(fileUrl, { headers: { range: 'bytes=5-8' } })
      expect([range.status, range.headers.get('content-range')]).toEqual([206, `bytes 5-8/${size}`])
      const etag = range.headers.get('etag') ?? ''
      expect((await root.raw(fileUrl, { headers: { 'if-none-match': etag } })).status).toBe(304)
    }
    // Moved after the response.
    for (const { fileUrl } of filesOf(before)) await eventually(async () => expect((await fetch(fileUrl)).status).toBe(404))
    const master = found.streamingPlaylists[0]?.playlistUrl ?? ''
    await eventually(async () => expect(await swarms()).toEqual(swarmsOfPlaylist(master, 2)))
    const { files } = await root.send<{ files: { token: string } }>('POST', `/api/v1/videos/${video.uuid}/token`)
    const withToken = `${master}?videoFileToken=${files.token}&reinjectVideoFileToken=true`
    const text = await (await get(withToken)).text()
    const rendition = text.split('\n').find((line) => line.includes('.m3u8?'))
    expect(rendition).toContain(`videoFileToken=${files.token}`)
    expect((await get(new URL(rendition ?? '', master).href)).status).toBe(200)
    expect((await get(`${master}?videoFileToken=wrong`)).status).toBe(403)
  })

  it('is public again with a replaced file, and leaves no old files', async () => {
    const before = await stored()
    await root.send('PUT', `/api/v1/videos/${video.uuid}`, { privacy: 1 })
    const open = await view()
    await eventually(async () => expect((await fetch(open.files[0]?.fileUrl ?? '')).status).toBe(200))
    const bytes = await readFile(await media('small.mp4'))
    const address = `/api/v1/videos/${video.uuid}/source/replace-resumable`
    const opened = await root.raw(address, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-upload-content-length': String(bytes.length),
        'x-upload-content-type': 'video/mp4',
      },
      body: JSON.stringify({ filename: 'small.mp4' }),
    })
    const { search } = new URL(`http:${opened.headers.get('location')}`)
    const answer = await root.raw(address + search, {
      method: 'PUT',
      headers: {
        'content-type': 'application/octet-stream',
        'content-range': `bytes 0-${bytes.length - 1}/${bytes.length}`,
      },
      body: new Uint8Array(bytes),
    })
    expect(answer.status).toBe(200)
    await eventually(async () => {
      const names = filesOf(await view()).map(({ fileUrl }) => fileUrl)
      expect(names).toHaveLength(4)
      expect(names.some((name) => filesOf(open).some(({ fileUrl }) => fileUrl === name))).toBe(false)
    })
    await complete()
    await eventually(async () => expect((await stored()).length).toBe(before.length))
  })

  it('leaves no file behind when it is removed', async () => {
    await root.send('DELETE', `/api/v1/videos/${video.uuid}`)
    await eventually(async () => expect(await stored()).toEqual([]))
  })
})
