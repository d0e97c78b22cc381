// Playback of an uploaded file right after the upload, while its renditions are made.

import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type Client, login } from '../../../scripts/demo/client.ts'
import { type MediaName, media } from '../../support/media.ts'
import { startTestNode, type TestNode } from '../../support/node.ts'
import { inObjectStorage } from '../../support/test-store.ts'
import { until } from '../../support/until.ts'

const LADDER = Object.fromEntries(
  ['0p', '144p', '240p', '360p', '480p', '720p', '1080p', '1440p', '2160p'].map((name) => [name, name === '240p']),
)

let node: TestNode
let root: Client
let channelId: number
beforeAll(async () => {
  node = await startTestNode({
    config: {
      transcoding: { enabled: true, resolutions: LADDER },
      tracker: { enabled: true },
      video_file: { update: { enabled: true } },
      defaults: { publish: { privacy: 4, licence: 2, comments_policy: 3, download_enabled: false } },
    },
  })
  root = await login(node.base, node.username, node.password)
  const me = await root.get<{ videoChannels: { id: number }[] }>('/api/v1/users/me')
  channelId = me.videoChannels[0]?.id ?? 0
})
afterAll(() => node?.stop())

interface ListedFile {
  id: number
  size: number
  fileUrl: string
  torrentUrl: string | null
  magnetUri: string | null
  resolution: { id: number }
}
interface ShownVideo {
  id: number
  uuid: string
  state: { id: number }
  privacy: { id: number }
  licence: { id: number }
  commentsPolicy: { id: number }
  downloadEnabled: boolean
  thumbnailPath: string
  previewPath: string
  files: ListedFile[]
  streamingPlaylists: { playlistUrl: string; files: unknown[] }[]
}

const show = (uuid: string): Promise<ShownVideo> => root.get(`/api/v1/videos/${uuid}`)
const PUBLISHED = 1
const TO_TRANSCODE = 2

type Upload = (name: MediaName, fields?: Record<string, unknown>) => Promise<ShownVideo>

const legacy: Upload = async (name, fields = { privacy: 1 }) => {
  const form = new FormData()
  for (const [field, value] of Object.entries({ channelId, name: 'A video', ...fields })) form.set(field, String(value))
  form.set('videofile', new File([new Uint8Array(await readFile(await media(name)))], name))
  const { video } = await root.send<{ video: { uuid: string } }>('POST', '/api/v1/videos/upload', form)
  return await show(video.uuid)
}

async function sendWhole(path: string, name: MediaName, fields: object): Promise<Response> {
  const bytes = new Uint8Array(await readFile(await media(name)))
  const opened = await root.raw(path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-upload-content-type': 'video/mp4',
      'x-upload-content-length': `${bytes.length}`,
    },
    body: JSON.stringify({ filename: name, ...fields }),
  })
  expect(opened.status).toBe(201)
  const location = new URL(opened.headers.get('location') ?? '', node.base)
  const range = `bytes 0-${bytes.length - 1}/${bytes.length}`
  return await root.raw(`${location.pathname}${location.search}`, {
    method: 'PUT',
    headers: { 'content-range': range, 'content-type': 'application/octet-stream' },
    body: bytes,
  })
}

const resumable: Upload = async (name, fields = { privacy: 1 }) => {
  const sent = await sendWhole('/api/v1/videos/upload-resumable', name, {
    channelId,
    name: 'A video',
    ...fields,
  })
  const { video } = (await sent.json()) as { video: { uuid: string } }
  return await show(video.uuid)
}

/** No transcoding runs meanwhile. */
async function paused<T>(work: () => Promise<T>): Promise<T> {
  await root.send('POST', '/api/v1/jobs/pause')
  try {
    return await work()
  } finally {
    await root.send('POST', '/api/v1/jobs/resume')
  }
}

const transcoded = (uuid: string) =>
  until(
    async () => {
      const video = await show(uuid)
      const isDone = video.state.id === PUBLISHED && video.streamingPlaylists.length > 0 && video.files.length === 0
      return isDone ? video : undefined
    },
    { what: 'the end of the transcoding' },
  )

const read = async (url: string, headers: Record<string, string> = {}) => {
  const answer = await fetch(url, { headers })
  return { status: answer.status, bytes: Buffer.from(await answer.arrayBuffer()) }
}

describe('the uploaded file', () => {
  it.each([
    ['legacy', legacy],
    ['resumable', resumable],
  ])('is listed and plays when a %s upload is answered, until HLS exists', async (_kind, upload) => {
    const { uuid, state, files, streamingPlaylists } = await paused(async () => {
      const video = await upload('small.mp4')
      const bytes = await readFile(await media('small.mp4'))
      const [file] = video.files
      expect(await read(file?.fileUrl ?? '')).toEqual({ status: 200, bytes })
      expect(file).toMatchObject({ torrentUrl: null, magnetUri: null })
      return video
    })
    expect({ state: state.id, streamingPlaylists }).toEqual({ state: PUBLISHED, streamingPlaylists: [] })
    expect(files).toEqual([
      expect.objectContaining({
        id: expect.any(Number),
        resolution: { id: 240, label: '240p' },
        fileUrl: expect.stringMatching(/\/web-videos\/[0-9a-f-]{36}-240\.mp4$/),
      }),
    ])
    const after = await transcoded(uuid)
    expect((await read(after.streamingPlaylists[0]?.playlistUrl ?? '')).status).toBe(200)
    const isGone = async () => (await read(files[0]?.fileUrl ?? '')).status === 404
    await until(isGone, { what: 'the end of the file' })
  })

  it('is listed even if browsers cannot play it', async () => {
    const { state, files } = await paused(() => legacy('odd.mkv'))
    expect(state.id).toBe(PUBLISHED)
    expect(files.map(({ fileUrl }) => fileUrl.slice(-8))).toEqual(['-241.mkv'])
  })

  it('with audio only is listed too, with a still picture', async () => {
    const { state, files, thumbnailPath, previewPath } = await paused(() => legacy('sound.mp3'))
    expect(state.id).toBe(PUBLISHED)
    for (const path of [thumbnailPath, previewPath]) {
      expect((await read(`${node.base}${path}`)).bytes.subarray(0, 3).toString('hex')).toBe('ffd8ff')
    }
    expect(files).toMatchObject([{ resolution: { id: 0 }, fileUrl: expect.stringMatching(/-0\.mp3$/) }])
  })

  it('of a private video needs the authorization for its files', async () => {
    const { files } = await paused(() => legacy('small.mp4', { privacy: 3 }))
    const url = files[0]?.fileUrl ?? ''
    expect(url).toMatch(/\/web-videos\/private\/[0-9a-f-]{36}-240\.mp4$/)
    expect((await read(url)).status).toBe(403)
    expect((await read(url, { authorization: root.authorization })).status).toBe(200)
  })

  it.each([
    ['rotated.mp4', { width: 240, height: 426 }, 1.775],
    ['anamorphic.mp4', { width: 360, height: 288 }, 2.2222],
  ] as const)('%s has its stored dimensions, and its video the displayed ones', async (name, size, aspectRatio) => {
    const video = await paused(() => legacy(name))
    expect(video).toMatchObject({ aspectRatio, files: [{ ...size, storage: inObjectStorage ? 1 : 0 }] })
  })

  it('is not listed when publication waits for transcoding', async () => {
    const { uuid, state, files } = await paused(() => legacy('small.mp4', { privacy: 1, waitTranscoding: true }))
    expect({ state: state.id, files }).toEqual({ state: TO_TRANSCODE, files: [] })
    await transcoded(uuid)
  })

  it('that replaces another is listed at once', async () => {
    const { uuid } = await legacy('small.mp4')
    await transcoded(uuid)
    const replaced = await paused(async () => {
      expect((await sendWhole(`/api/v1/videos/${uuid}/source/replace-resumable`, 'journey.mp4', {})).status).toBe(200)
      return await show(uuid)
    })
    const { size } = await readFile(await media('journey.mp4')).then(({ length }) => ({ size: length }))
    expect(replaced.files).toMatchObject([{ size }])
    expect(replaced.streamingPlaylists).toEqual([])
    await transcoded(uuid)
  })
})

it.each([
  ['legacy', legacy],
  ['resumable', resumable],
])("a %s upload without these fields gets the server's defaults", async (_kind, upload) => {
  const shape = ({ privacy, licence, commentsPolicy, downloadEnabled }: ShownVideo) => [
    privacy.id,
    licence.id,
    commentsPolicy.id,
    downloadEnabled,
  ]
  expect(shape(await upload('small.mp4', {}))).toEqual([4, 2, 3, false])
  const said = { privacy: 3, licence: 1, commentsPolicy: 1, downloadEnabled: true }
  expect(shape(await upload('small.mp4', said))).toEqual([3, 1, 1, true])
})
