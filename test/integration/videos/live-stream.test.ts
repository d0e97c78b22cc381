// A stream from ffmpeg to a player: received by a separate process, published, played from rows and segments, and ended.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type Client, login } from '../../../scripts/demo/client.ts'
import { toShortUuid } from '../../../src/platform/ids.ts'
import { publish } from '../../support/live.ts'
import { startTestNode, type TestNode } from '../../support/node.ts'
import { run } from '../../support/postgres.ts'
import { until } from '../../support/until.ts'

let node: TestNode
let root: Client
let channelId: number
beforeAll(async () => {
  node = await startTestNode({
    config: {
      live: { enabled: true },
      transcoding: { enabled: false },
      storyboards: { enabled: true },
      vireo: { live: { segment_duration: '1 second', reconnect_window: 0 } },
    },
  })
  root = await login(node.base, node.username, node.password)
  const me = await root.get<{ videoChannels: { id: number }[] }>('/api/v1/users/me')
  channelId = me.videoChannels[0]?.id ?? 0
})
afterAll(() => node?.stop())

type Live = { id: number; uuid: string; key: string }
async function create(fields: object = {}): Promise<Live> {
  const { video } = await root.send<{ video: { id: number; uuid: string } }>('POST', '/api/v1/videos/live', {
    channelId,
    name: 'A live',
    privacy: 1,
    ...fields,
  })
  const { streamKey } = await root.get<{ streamKey: string }>(`/api/v1/videos/live/${video.id}`)
  return { ...video, key: streamKey }
}
const address = (key: string) => `rtmp://127.0.0.1:${node.server.live.rtmp}/live/${key}`
const detailsOf = ({ uuid }: Live) =>
  root.get<{
    name: string
    state: { id: number }
    isLive: boolean
    duration: number
    files: { fileUrl: string }[]
    streamingPlaylists: { playlistUrl: string; segmentsSha256Url: string }[]
  }>(`/api/v1/videos/${uuid}`)
const text = async (url: string) => {
  const response = await fetch(url)
  return response.ok ? await response.text() : `status ${response.status}`
}

it('plays while it lasts, and has ended afterwards', async () => {
  const live = await create()
  const sending = publish(address(live.key), { seconds: 8, paced: true })
  const shown = await until(async () => ((await detailsOf(live)).state.id === 1 ? await detailsOf(live) : undefined), { what: 'the live' })
  const [playlist] = shown.streamingPlaylists
  expect(playlist?.playlistUrl).toBe(`${node.base}/static/streaming-playlists/hls/${live.uuid}/master.m3u8`)
  expect(await text(playlist?.playlistUrl ?? '')).toMatch(
    /^#EXTM3U\n#EXT-X-VERSION:6\n#EXT-X-STREAM-INF:BANDWIDTH=\d+,RESOLUTION=320x240,CODECS="avc1\.[0-9a-f]{6},mp4a\.40\.2"\n0\.m3u8\n/,
  )
  const rendition = new URL('0.m3u8', playlist?.playlistUrl).href
  expect(await text(rendition)).not.toContain('#EXT-X-ENDLIST')
  await expect(root.send('PUT', `/api/v1/videos/${live.uuid}`, { privacy: 3 })).rejects.toThrow('400')
  await root.send('PUT', `/api/v1/videos/${live.uuid}`, { privacy: 1, name: 'Renamed' })
  expect((await sending).code).toBe(0)
  await until(async () => (await detailsOf(live)).state.id === 5, { what: 'the end' })
  const last = await text(rendition)
  expect(last).toContain('#EXT-X-ENDLIST')
  const names = last.split('\n').filter((line) => line.endsWith('.ts'))
  expect(names).toEqual(Array.from({ length: names.length }, (_, n) => `0-${String(n).padStart(6, '0')}.ts`))
  const hashes = JSON.parse(await text(playlist?.segmentsSha256Url ?? '')) as Record<string, string>
  for (const name of names) {
    const piece = await fetch(new URL(name, rendition))
    const digest = Buffer.from(await crypto.subtle.digest('SHA-256', await piece.arrayBuffer())).toString('hex')
    expect([piece.status, digest]).toEqual([200, hashes[name]])
  }
  const { data } = await root.get<{ data: object[] }>(`/api/v1/videos/live/${live.uuid}/sessions`)
  expect(data).toMatchObject([{ error: null, endDate: expect.any(String) }])
})

it('is refused with a wrong key, and to a second publisher', async () => {
  const live = await create({ permanentLive: true })
  expect((await publish(address('00000000-0000-4000-8000-000000000000'), { seconds: 1 })).said).toContain('no live with this key')
  const first = publish(address(live.key), { seconds: 5, paced: true })
  await until(async () => (await detailsOf(live)).state.id === 1, { what: 'the live' })
  expect((await publish(address(live.key), { seconds: 1 })).said).toContain('Another publisher')
  await first
  await until(async () => (await detailsOf(live)).state.id === 4, { what: 'the permanent live to wait again' })
})

describe('the recording', () => {
  it('of a non-permanent live replaces it, from all its connections', async () => {
    const live = await create({
      saveReplay: true,
      replaySettings: { privacy: 2 },
      description: '00:00 The beginning\n00:01 The middle\n00:02 The end',
    })
    const first = publish(address(live.key), { seconds: 4, paced: true })
    await until(async () => (await detailsOf(live)).state.id === 1, { what: 'the live' })
    expect((await first).code).toBe(0)
    const replay = await until(
      async () => {
        const video = await detailsOf(live)
        return !video.isLive && video.state.id === 1 ? video : undefined
      },
      { what: 'the replay' },
    )
    expect(replay).toMatchObject({ isLive: false, privacy: { id: 2 }, duration: 4, state: { id: 1 } })
    expect(await root.get(`/api/v1/videos/${live.uuid}/live-session`)).toMatchObject({
      endingProcessed: true,
      replayVideo: { id: live.id, uuid: live.uuid },
    })
    expect(await root.get(`/api/v1/videos/${live.uuid}/chapters`)).toEqual({
      chapters: [
        { timecode: 0, title: 'The beginning' },
        { timecode: 1, title: 'The middle' },
        { timecode: 2, title: 'The end' },
      ],
    })
    await until(
      async () => (await root.get<{ storyboards: object[] }>(`/api/v1/videos/${live.uuid}/storyboards`)).storyboards.length === 1,
      { what: 'the storyboard' },
    )
    const [file] = replay.files
    expect((await fetch(file?.fileUrl ?? '')).status).toBe(200)
    expect(await text(`${node.base}/static/streaming-playlists/hls/${live.uuid}/master.m3u8`)).toBe('status 404')
  })

  it('of a permanent live that was blocked meanwhile is blocked too', async () => {
    const live = await create({ permanentLive: true, saveReplay: true, replaySettings: { privacy: 1 } })
    const sending = publish(address(live.key), { seconds: 600, paced: true })
    const received = async (): Promise<number> => {
      const [{ seconds } = { seconds: 0 }] = await run<{ seconds: number }>(
        node.databaseUrl,
        `select coalesce(sum(seconds), 0)::float8 as seconds from live_piece p join live_session s on s.id = p.session_id
         where s.video_id = ${live.id}`,
      )
      return seconds
    }
    await until(async () => (await received()) >= 3, { what: 'three seconds' })
    await root.send('POST', `/api/v1/videos/${live.uuid}/blacklist`, { reason: 'Not ours to show.', unfederate: true })
    await sending
    const seconds = await received()
    const replay = await until(
      async () => {
        const { data } = await root.get<{ data: { error: number; replayVideo: { id: number; uuid: string } | null }[] }>(
          `/api/v1/videos/live/${live.uuid}/sessions`,
        )
        return data[0]?.replayVideo ?? undefined
      },
      { what: 'the recording' },
    )
    await until(async () => (await detailsOf({ ...live, ...replay })).state.id === 1, { what: 'the replay' })
    expect(Math.abs((await detailsOf({ ...live, ...replay })).duration - seconds)).toBeLessThanOrEqual(1)
    expect((await fetch(`${node.base}/api/v1/videos/${replay.uuid}`)).status).toBe(401)
    const activity = { headers: { accept: 'application/activity+json' } }
    expect((await fetch(`${node.base}/videos/watch/${replay.uuid}`, activity)).status).toBe(404)
    const { data: listed } = await root.get<{ data: { uuid: string }[] }>('/api/v1/videos?count=100')
    expect(listed.map(({ uuid }) => uuid)).not.toContain(replay.uuid)
    const { data: blocks } = await root.get<{ data: { reason: string; unfederated: boolean; type: number; video: { id: number } }[] }>(
      '/api/v1/videos/blacklist?type=1',
    )
    const [ofReplay, ofLive] = [replay.id, live.id].map((id) => blocks.find(({ video }) => video.id === id))
    for (const block of [ofReplay, ofLive]) expect(block).toMatchObject({ reason: 'Not ours to show.', unfederated: true, type: 1 })
    await root.send('DELETE', `/api/v1/videos/${replay.uuid}/blacklist`)
    expect((await fetch(`${node.base}/api/v1/videos/${replay.uuid}`)).status).toBe(200)
    expect((await fetch(`${node.base}/videos/watch/${replay.uuid}`, activity)).status).toBe(200)
  })

  it('of each session of a permanent live is a video', async () => {
    const live = await create({ permanentLive: true, saveReplay: true, replaySettings: { privacy: 1 } })
    for (const [before, seconds] of [3, 4].entries()) {
      expect((await publish(address(live.key), { seconds, paced: true })).code).toBe(0)
      await until(
        async () => {
          const { data } = await root.get<{ data: { endDate: string | null }[] }>(`/api/v1/videos/live/${live.uuid}/sessions`)
          return data.filter(({ endDate }) => endDate !== null).length > before
        },
        { what: 'the end of the stream' },
      )
    }
    const sessions = await until(
      async () => {
        const { data } = await root.get<{ data: { replayVideo: { uuid: string } | null }[] }>(`/api/v1/videos/live/${live.uuid}/sessions`)
        return data.every(({ replayVideo }) => replayVideo) ? data : undefined
      },
      { what: 'the recordings' },
    )
    expect(sessions).toHaveLength(2)
    const replays = await Promise.all(sessions.map(({ replayVideo }) => detailsOf({ ...live, uuid: replayVideo?.uuid ?? '' })))
    expect(replays.map(({ duration, isLive }) => ({ duration, isLive }))).toEqual([
      { duration: 3, isLive: false },
      { duration: 4, isLive: false },
    ])
    const page = await text(`${node.base}/w/${live.uuid}`)
    for (const { replayVideo } of sessions) expect(page).toContain(`"/w/${toShortUuid(replayVideo?.uuid ?? '')}"`)
    for (const { name } of replays) expect(name).toMatch(/^A live - \d{1,2}\/\d{1,2}\/\d{4}, /)
  })
})
