// A transcoded live on a whole server: its renditions are listed before they exist, and play like the source.

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { type Client, login } from '../../../scripts/demo/client.ts'
import { publish } from '../../support/live.ts'
import { serverFfmpeg } from '../../support/media.ts'
import { startTestNode, type TestNode } from '../../support/node.ts'
import { run } from '../../support/postgres.ts'
import { until } from '../../support/until.ts'

let node: TestNode
let root: Client
beforeAll(async () => {
  node = await startTestNode({
    config: {
      live: { enabled: true, transcoding: { resolutions: { '0p': true, '144p': true, '480p': true } } },
      transcoding: { enabled: false },
      vireo: { live: { segment_duration: '1 second', reconnect_window: 0 } },
    },
  })
  root = await login(node.base, node.username, node.password)
})
afterAll(() => node?.stop())

it('plays in each resolution, without a gap', async () => {
  const { videoChannels } = await root.get<{ videoChannels: { id: number }[] }>('/api/v1/users/me')
  const { video: live } = await root.send<{ video: { id: number; uuid: string } }>('POST', '/api/v1/videos/live', {
    channelId: videoChannels[0]?.id,
    name: 'A live',
    privacy: 1,
  })
  const { streamKey } = await root.get<{ streamKey: string }>(`/api/v1/videos/live/${live.id}`)
  type Details = {
    state: { id: number }
    streamingPlaylists: { playlistUrl: string; segmentsSha256Url: string; files: object[]; redundancies: object[] }[]
  }
  const detailsOf = () => root.get<Details>(`/api/v1/videos/${live.uuid}`)
  const sending = publish(`rtmp://127.0.0.1:${node.server.live.rtmp}/live/${streamKey}`, { seconds: 8, paced: true })
  const shown = await until(async () => ((await detailsOf()).state.id === 1 ? await detailsOf() : undefined), { what: 'the live' })
  const [playlist] = shown.streamingPlaylists
  expect(playlist).toMatchObject({ files: [], redundancies: [] })
  const address = playlist?.playlistUrl ?? ''
  const master = await (await fetch(address)).text()
  expect(master.split('\n').filter((line) => line !== '')).toEqual([
    '#EXTM3U',
    '#EXT-X-VERSION:6',
    expect.stringMatching(/BANDWIDTH=\d+,RESOLUTION=320x240,CODECS="avc1\.[0-9a-f]{6},mp4a\.40\.2"$/),
    '0.m3u8',
    expect.stringMatching(/BANDWIDTH=\d+,RESOLUTION=192x144,CODECS="avc1\.64001e,mp4a\.40\.2"$/),
    '1.m3u8',
    expect.stringMatching(/BANDWIDTH=\d+,CODECS="mp4a\.40\.2"$/),
    '2.m3u8',
  ])
  const [{ hashes } = { hashes: [] }] = await run<{ hashes: string[] }>(
    node.databaseUrl,
    `select p2p_media_loader_info_hashes as hashes from streaming_playlist where video_id = ${live.id}`,
  )
  expect(hashes).toHaveLength(3)
  // It waits for its first segment.
  const first = await fetch(new URL('1.m3u8', address))
  expect([first.status, await first.text()]).toEqual([200, expect.stringContaining('\n1-000000.ts\n')])
  expect((await fetch(new URL('3.m3u8', address))).status).toBe(404)
  expect((await sending).code).toBe(0)

  const texts = await until(
    async () => {
      const all = await Promise.all([0, 1, 2].map(async (n) => await (await fetch(new URL(`${n}.m3u8`, address))).text()))
      return all.every((text) => text.includes('#EXT-X-ENDLIST')) ? all : undefined
    },
    { what: 'the end of all renditions' },
  )
  const namesOf = (text: string | undefined) => (text ?? '').split('\n').filter((line) => line.endsWith('.ts'))
  expect(texts.map((text) => text.replaceAll(/\n\d-/g, '\n0-'))).toEqual([texts[0], texts[0], texts[0]])
  const digests: Record<string, string> = await (await fetch(playlist?.segmentsSha256Url ?? '')).json()
  expect(Object.keys(digests).toSorted()).toEqual(texts.flatMap(namesOf).toSorted())
  for (const [name, expected] of Object.entries(digests)) {
    const bytes = await (await fetch(new URL(name, address))).arrayBuffer()
    expect(Buffer.from(await crypto.subtle.digest('SHA-256', bytes)).toString('hex')).toBe(expected)
  }

  const { ffprobePath } = await serverFfmpeg()
  const show = async (rendition: number, stream: string, entries: string) => {
    const url = new URL(`${rendition}.m3u8`, address).href
    const args = ['-v', 'error', '-select_streams', stream, '-show_entries', entries, '-of', 'csv=p=0', url]
    const { stdout } = await promisify(execFile)(ffprobePath, args, { env: { ...process.env, GCONV_PATH: '/nonexistent' } })
    return stdout.split('\n').map(Number.parseFloat).filter(Number.isFinite)
  }
  const pictures = (await show(1, 'v:0', 'packet=pts_time')).toSorted((a, b) => a - b)
  expect(pictures).toHaveLength(200)
  const gaps = pictures.slice(1).map((time, index) => time - (pictures[index] ?? 0))
  expect(Math.max(...gaps)).toBeLessThan(0.045)
  const sound = await show(0, 'a:0', 'packet=pts_time')
  expect(await show(1, 'a:0', 'packet=pts_time')).toEqual(sound)
  expect(await show(2, 'a:0', 'packet=pts_time')).toEqual(sound)
})
