// kill -9 while users are removed: all their rows and files are gone in the end, whatever was running.

import { setTimeout as moment } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { type Client, login } from '../../scripts/demo/client.ts'
import { freePort } from '../support/ports.ts'
import { eventually } from '../support/until.ts'
import { ask, type Child, dataFolder, PASSWORD, start, USERNAME } from './support/child.ts'
import { explained, untilSettled } from './support/orphans.ts'
import { persistentUpload } from './support/persistent-upload.ts'
import { channelOf, makeVideo } from './support/videos.ts'

/** When the process is killed, in ms after the answer to the removal. */
const MOMENTS = [0, 40, 150, 600]

const folder = dataFolder({ prepared: true })
let options: { dataDir: string; port: number }
let node: Child
let root: Client
let bytes: Buffer

beforeAll(async () => {
  options = { dataDir: folder.path, port: await freePort() }
  node = await start(options)
  root = await login(node.base, USERNAME, PASSWORD)
  bytes = await makeVideo(2)
})

afterAll(async () => {
  await node?.kill9({ database: true })
  await folder.remove()
})

async function makeUser(username: string): Promise<Client> {
  const body = { username, password: PASSWORD, email: `${username}@example.org`, role: 2 }
  await root.send('POST', '/api/v1/users', body)
  return await login(node.base, username, PASSWORD)
}

/** A video in transcoding, an incomplete upload, and a comment and a like on a video that remains. */
async function fill(user: Client, videoId: number): Promise<void> {
  const channelId = await channelOf(user)
  const upload = (name: string, waitTranscoding: boolean) => ({
    client: user,
    bytes,
    fields: { channelId, name, filename: `${name}.mp4`, privacy: 1, waitTranscoding },
  })
  await persistentUpload({ ...upload('whole', true), chunkSize: bytes.length }).proceed()
  await user.raw('/api/v1/videos/upload-resumable', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-upload-content-length': '5000',
      'x-upload-content-type': 'video/mp4',
    },
    body: JSON.stringify({ channelId, name: 'half', filename: 'half.mp4' }),
  })
  await user.send('POST', `/api/v1/videos/${videoId}/comment-threads`, { text: 'a word' })
  await user.send('PUT', `/api/v1/videos/${videoId}/rate`, { rating: 'like' })
}

it('deletes everything of removed users, whenever the process is killed', async () => {
  const fields = { channelId: await channelOf(root), name: 'stays', filename: 'stays.mp4', privacy: 1 }
  const stays = await persistentUpload({ client: root, bytes, chunkSize: bytes.length, fields }).proceed()

  for (const [round, at] of MOMENTS.entries()) {
    const user = await makeUser(`leaver${round}`)
    await fill(user, stays.id)
    expect((await user.raw('/api/v1/users/me', { method: 'DELETE' })).status).toBe(204)
    await moment(at)
    await node.kill9({ database: round % 2 === 0 })
    node = await start(options)
    expect((await user.raw('/api/v1/users/me')).status).toBe(401)
  }

  await explained(node, folder.path, async () => {
    await eventually(async () => {
      expect(await ask(folder.path, 'select username from users')).toEqual([{ username: USERNAME }])
    })
    await untilSettled(folder.path)
  })
  const [left] = await ask(
    folder.path,
    `select (select count(*)::int from account where name like 'leaver%') as accounts,
       (select count(*)::int from channel where name like '%leaver%') as channels,
       (select count(*)::int from video) as videos, (select count(*)::int from rating) as ratings,
       (select count(*)::int from comment where text <> '') as comments,
       (select count(*)::int from actor where preferred_username like 'leaver%' and deleted_at is not null) as tombstones`,
  )
  expect(left).toEqual({ accounts: 0, channels: 0, videos: 1, ratings: 0, comments: 0, tombstones: 2 * MOMENTS.length })
})
