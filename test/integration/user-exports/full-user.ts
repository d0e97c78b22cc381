// A user with an object of every kind that an archive contains, created over the API like the user of the reference server's archive in
// test/fixtures.

import { readFile } from 'node:fs/promises'
import sharp from 'sharp'
import { type Client, login } from '../../../scripts/demo/client.ts'
import { media } from '../../support/media.ts'
import type { TestNode } from '../../support/node.ts'
import { until } from '../../support/until.ts'

export interface FullUser {
  client: Client
  userId: number
  username: string
  email: string
  /** Public, with captions, chapters and tags. */
  first: { id: number; uuid: string }
  /** Unlisted, in the second channel. */
  second: { id: number; uuid: string }
  /** A video of another user. */
  other: { id: number; uuid: string }
  bytes: Buffer
}

const CAPTION = 'WEBVTT\n\n00:00:00.000 --> 00:00:01.000\nHello\n'
const PASSWORD = 'a password of a mover'

export async function makeFullUser(node: TestNode, root: Client, username = 'mover'): Promise<FullUser> {
  const email = `${username}@example.com`
  const made = await root.send<{ user: { id: number } }>('POST', '/api/v1/users', {
    username,
    email,
    password: PASSWORD,
    role: 2,
    videoQuota: -1,
    videoQuotaDaily: -1,
  })
  const client = await login(node.base, username, PASSWORD)
  const bytes = await readFile(await media('small.mp4'))
  const picture = async (width: number, height: number) =>
    new Blob([
      new Uint8Array(
        await sharp({ create: { width, height, channels: 3, background: 'teal' } })
          .png()
          .toBuffer(),
      ),
    ])

  const send = (path: string, body: unknown, method = 'POST') => client.send<never>(method, `/api/v1${path}`, body)
  const form = (fields: Record<string, string | [Blob, string]>): FormData => {
    const data = new FormData()
    for (const [name, value] of Object.entries(fields)) {
      if (typeof value === 'string') data.append(name, value)
      else data.append(name, ...value)
    }
    return data
  }
  const upload = async (by: Client, fields: Record<string, string>) => {
    const file: [Blob, string] = [new Blob([bytes]), 'small.mp4']
    const data = form({ privacy: '1', ...fields, videofile: file })
    for (const tag of fields.name === 'First film' ? ['sea', 'travel'] : []) data.append('tags[]', tag)
    const { video } = await by.send<{ video: { id: number; uuid: string } }>('POST', '/api/v1/videos/upload', data)
    await until(async () => (await by.get<{ state: { id: number } }>(`/api/v1/videos/${video.uuid}`)).state.id === 1, {
      what: 'the publication of a video',
    })
    return video
  }
  const channelOf = async (by: Client) =>
    String((await by.get<{ videoChannels: { id: number }[] }>('/api/v1/users/me')).videoChannels[0]?.id)

  await send('/users/me', { displayName: 'The Mover', description: 'moves between servers' }, 'PUT')
  await send('/users/me/avatar/pick', form({ avatarfile: [await picture(400, 400), 'avatar.png'] }))
  const channel = {
    name: `${username}_second`,
    displayName: 'Second channel',
    description: 'another',
    support: 'thanks',
  }
  const { videoChannel } = await client.send<{ videoChannel: { id: number } }>('POST', '/api/v1/video-channels', channel)
  await send(`/video-channels/${channel.name}/banner/pick`, form({ bannerfile: [await picture(1920, 317), 'banner.png'] }))
  const described = { category: '2', licence: '1', language: 'en', description: 'a description' }
  const first = await upload(client, { name: 'First film', channelId: await channelOf(client), ...described })
  const second = await upload(client, { name: 'Second film', channelId: String(videoChannel.id), privacy: '2' })
  const other = await upload(root, { name: `Of another (${username})`, channelId: await channelOf(root) })

  for (const { uuid } of [first, second]) {
    await until(async () => (await client.get<{ storyboards: unknown[] }>(`/api/v1/videos/${uuid}/storyboards`)).storyboards.length > 0, {
      what: 'the storyboard of a video',
    })
  }
  const captionfile: [Blob, string] = [new Blob([CAPTION]), 'caption.vtt']
  await send(`/videos/${first.uuid}/captions/en`, form({ captionfile }), 'PUT')
  const chapters = [
    { timecode: 0, title: 'Start' },
    { timecode: 1, title: 'End' },
  ]
  await send(`/videos/${first.uuid}/chapters`, { chapters }, 'PUT')
  await send(`/videos/${other.uuid}/comment-threads`, { text: 'a comment of the mover' })
  await send(`/videos/${other.uuid}/rate`, { rating: 'like' }, 'PUT')
  await send(`/videos/${second.uuid}/rate`, { rating: 'dislike' }, 'PUT')
  await send('/users/me/subscriptions', { uri: `root_channel@${new URL(node.base).host}` })
  await send('/users/me/blocklist/servers', { host: 'blocked.example.com' })
  const thumbnailfile: [Blob, string] = [await picture(280, 157), 'thumbnail.png']
  const { videoPlaylist } = await client.send<{ videoPlaylist: { id: number } }>(
    ...(['POST', '/api/v1/video-playlists', form({ displayName: 'To see', privacy: '3', thumbnailfile })] as const),
  )
  for (const [videoId, startTimestamp] of [
    [first.id, 1],
    [other.id, undefined],
  ] as const) {
    await send(`/video-playlists/${videoPlaylist.id}/videos`, {
      videoId,
      ...(startTimestamp ? { startTimestamp } : {}),
    })
  }
  await send(`/videos/${other.uuid}/watching`, { currentTime: 2 }, 'PUT')
  await send(`/watched-words/accounts/${username}/lists`, { listName: 'rude', words: ['rude', 'ruder'] })
  return { client, userId: made.user.id, username, email, first, second, other, bytes }
}
