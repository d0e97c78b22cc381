// Synchronisation with a channel of another site on a whole server, with a stand-in for yt-dlp: from the request to published videos.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import pg from 'pg'
import { type Client, login } from '../../../scripts/demo/client.ts'
import { media } from '../../support/media.ts'
import { startTestNode, type TestNode } from '../../support/node.ts'
import { until } from '../../support/until.ts'
import { installYtDlp, pageInfo, startVideoOrigin, type VideoOrigin } from '../../support/video-origin.ts'

let node: TestNode
let pool: pg.Pool
let site: VideoOrigin
let client: Client
let channel: { id: number; name: string }

beforeAll(async () => {
  site = await startVideoOrigin('localhost')
  node = await startTestNode({
    config: {
      transcoding: { enabled: false },
      import: {
        videos: { http: { enabled: true } },
        video_channel_synchronization: { enabled: true },
      },
      vireo: { federation: { allow_http: true, allow_private_addresses: true } },
    },
  })
  await installYtDlp(join(node.dataDir, 'storage', 'bin'))
  pool = new pg.Pool({ connectionString: node.databaseUrl, max: 2 })
  pool.on('error', () => undefined)
  client = await login(node.base, node.username, node.password)
  const me = await client.get<{ videoChannels: { id: number; name: string }[] }>('/api/v1/users/me')
  channel = me.videoChannels[0] ?? { id: 0, name: '' }
  const bytes = await readFile(await media('small.mp4'))
  for (const name of ['one', 'two']) {
    site.answer(`/${name}.json`, {
      type: 'application/json',
      bytes: pageInfo({ title: `Video ${name}`, age_limit: 0 }),
    })
    site.answer(`/${name}.mp4`, { type: 'video/mp4', bytes })
  }
  lists('two', 'one')
})
afterAll(async () => {
  await pool?.end()
  await site?.close()
  await node?.stop()
})

const at = (path: string): string => `http://localhost:${site.port}${path}`

/** The videos of the channel, newest first. */
function lists(...names: string[]): void {
  const entries = names.map((name) => ({ _type: 'url', url: at(`/${name}`), title: name }))
  site.answer('/channel.json', { type: 'application/json', bytes: JSON.stringify({ _type: 'playlist', entries }) })
}

const videos = async () =>
  (await client.get<{ data: { name: string; privacy: { id: number } }[] }>(`/api/v1/video-channels/${channel.name}/videos`)).data

it('becomes public videos, each of them once', async () => {
  const { videoChannelSync: made } = await client.send<{ videoChannelSync: { id: number } }>('POST', '/api/v1/video-channel-syncs', {
    externalChannelUrl: at('/channel'),
    videoChannelId: channel.id,
  })
  const body = { externalChannelUrl: at('/channel'), videoChannelSyncId: made.id }
  const importVideos = () => client.send('POST', `/api/v1/video-channels/${channel.name}/import-videos`, body)
  const synced = () =>
    until(async () => {
      await pool.query("update channel_sync set due_at = now() where state = 'processing' and context->>'listed' = 'true'")
      const { data } = await client.get<{ data: { state: { id: number; label: string } }[] }>('/api/v1/accounts/root/video-channel-syncs')
      return data[0]?.state.id === 2 ? undefined : data[0]?.state
    })
  await importVideos()
  expect(await synced()).toEqual({ id: 3, label: 'Synchronized' })
  expect((await videos()).map(({ name }) => name).sort()).toEqual(['Video one', 'Video two'])
  const imports = (query = '') => client.get<{ total: number; data: object[] }>(`/api/v1/users/me/videos/imports${query}`)
  const videoChannelSync = { id: made.id, externalChannelUrl: at('/channel') }
  expect(await imports(`?videoChannelSyncId=${made.id}`)).toMatchObject({
    total: 2,
    data: [{ videoChannelSync }, { videoChannelSync }],
  })

  await importVideos()
  await synced()
  expect(await imports()).toMatchObject({ total: 2 })

  await client.send('DELETE', `/api/v1/video-channel-syncs/${made.id}`)
  expect(await imports()).toMatchObject({ total: 2, data: [expect.not.objectContaining({ videoChannelSync }), {}] })
  expect(await videos()).toHaveLength(2)
  const { rows } = await pool.query("select count(*)::int as count from pending_file where name like 'channel-%'")
  expect(rows).toEqual([{ count: 0 }])
})
