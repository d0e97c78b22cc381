// The journey of a video over two nodes, through public interfaces only: uploaded, transcoded, published, federated, watched, commented and
// liked on the other node, changed, removed, unfollowed. Every step is verified.

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { type Client, eventually, login, verify } from './client.ts'
import { type Uploaded, uploadResumable } from './resumable.ts'

const run = promisify(execFile)

export interface JourneyOptions {
  a: Node
  b: Node
  /** A video of about `seconds` with sound. */
  video: { bytes: Buffer; seconds: number }
  ffprobePath: string
  /** Called for each verified step. */
  report: (step: { what: string; url?: string; ms: number }) => void
  /** Timeout of a transcoding, in ms. */
  transcodingMs?: number
  /** Timeout of the arrival on the other node, in ms. Default: 2 s. */
  arrivalMs?: number
}

export interface Node {
  base: string
  username: string
  password: string
}

interface VideoView {
  id: number
  uuid: string
  shortUUID: string
  url: string
  name: string
  likes: number
  state: { id: number }
  previewPath: string
  files: { fileUrl: string }[]
  streamingPlaylists: { playlistUrl: string; files: { resolution: { id: number }; fileUrl: string; size: number }[] }[]
}

interface List<T> {
  total: number
  data: T[]
}

const SECOND = 1000

export async function playJourney(options: JourneyOptions): Promise<void> {
  const { a, b, video, report } = options
  const { transcodingMs = 300 * SECOND, arrivalMs = 2 * SECOND } = options

  const step = async <T>(what: string, work: () => Promise<T>, url?: (result: T) => string): Promise<T> => {
    const begun = performance.now()
    const result = await work()
    report({ what, ms: Math.round(performance.now() - begun), ...(url ? { url: url(result) } : {}) })
    return result
  }

  const onA = await step(
    'log in on A',
    () => login(a.base, a.username, a.password),
    () => a.base,
  )
  const onB = await step(
    'log in on B',
    () => login(b.base, b.username, b.password),
    () => b.base,
  )
  const channelId = (await onA.get<{ videoChannels: { id: number }[] }>('/api/v1/users/me')).videoChannels[0]?.id
  verify(channelId, 'a channel of the administrator of A')

  const first = await step(
    'upload a video to A in chunks, cut off and resumed',
    async () => {
      const { video: created } = await uploadResumable(onA, {
        bytes: video.bytes,
        filename: 'journey.mp4',
        fields: { channelId, name: 'The first journey', privacy: 1, tags: ['demo', 'vireo'], commentsPolicy: 1 },
        chunkSize: Math.ceil(video.bytes.length / 3),
        interrupt: async () => {},
      })
      return created
    },
    (created) => `${a.base}/w/${created.shortUUID}`,
  )

  await step(
    'it is transcoded and published on A',
    () => published(onA, first.uuid, transcodingMs),
    () => `${a.base}/api/v1/videos/${first.shortUUID}`,
  )
  await step('every rendition is there', () => allRenditions(onA, first.uuid, transcodingMs))
  await step(
    'it is listed on A',
    () => listed(onA, first.uuid),
    () => `${a.base}/api/v1/videos`,
  )
  await step(
    'its page plays it and can be embedded',
    () => page(onA, first),
    () => `${a.base}/videos/watch/${first.uuid}`,
  )
  await step('its HLS plays for as long as the video is', async () => {
    const view = await onA.get<VideoView>(`/api/v1/videos/${first.uuid}`)
    await plays(view, video.seconds, options.ffprobePath)
  })
  await step('its files are served in ranges', async () => await ranges(await onA.get(`/api/v1/videos/${first.uuid}`)))

  await step(
    'B follows A',
    async () => {
      await onB.send('POST', '/api/v1/server/following', { hosts: [new URL(a.base).host] })
      const follower = { host: new URL(b.base).host }
      await eventually('the follow', 20 * SECOND, async () => {
        const following = await onB.get<List<{ state: string }>>('/api/v1/server/following')
        return following.data[0]?.state === 'accepted'
      })
      await eventually('the follower', 20 * SECOND, async () => {
        const followers = await onA.get<List<{ state: string; follower: { host: string } }>>('/api/v1/server/followers')
        return followers.data.some((one) => one.state === 'accepted' && one.follower.host === follower.host)
      })
    },
    () => `${b.base}/api/v1/server/following`,
  )

  await step(
    'the earlier video of A is on B',
    () => eventually('the history of A on B', 30 * SECOND, async () => await find(onB, first.uuid)),
    () => `${b.base}/w/${first.shortUUID}`,
  )

  await step('the jobs of both come to rest', () => comeToRest([onA, onB]))

  const second = await step(
    'upload another video to A in one request',
    async () => {
      const form = new FormData()
      form.set('channelId', String(channelId))
      form.set('name', 'The second journey')
      form.set('privacy', '1')
      form.set('videofile', new File([new Uint8Array(video.bytes)], 'second.mp4', { type: 'video/mp4' }))
      return (await onA.send<Uploaded>('POST', '/api/v1/videos/upload', form)).video
    },
    (created) => `${a.base}/w/${created.shortUUID}`,
  )
  await step('it is published on A', () => published(onA, second.uuid, transcodingMs))
  await step(
    `it arrives on B within ${arrivalMs / SECOND} s`,
    () => eventually('the new video on B', arrivalMs, async () => await find(onB, second.uuid)),
    () => `${b.base}/w/${second.shortUUID}`,
  )
  await step('it plays on B', async () => {
    const whole = await fetch((await onA.get<VideoView>(`/api/v1/videos/${second.uuid}`)).files[0]?.fileUrl ?? '')
    // Unless its renditions exist already.
    if (whole.ok) verify((await whole.arrayBuffer()).byteLength === video.bytes.length, 'the uploaded file')
    const view = await eventually('the renditions on B', transcodingMs, async () => {
      const found = await onB.get<VideoView>(`/api/v1/videos/${second.uuid}`)
      return found.streamingPlaylists.length > 0 ? found : undefined
    })
    await plays(view, video.seconds, options.ffprobePath)
    verify((await onB.raw(view.previewPath)).status === 200, 'its preview on B')
    verify((await onB.raw(`/w/${second.shortUUID}`)).status === 200, 'its page on B')
  })

  await step(
    'a comment made on B reaches A',
    async () => {
      await onB.send('POST', `/api/v1/videos/${second.uuid}/comment-threads`, { text: 'Seen from the other side' })
      await eventually('the comment on A', 20 * SECOND, async () => {
        const threads = await onA.get<List<{ text: string; account: { host: string } }>>(`/api/v1/videos/${second.uuid}/comment-threads`)
        return threads.data.some(
          (thread) => thread.text.includes('Seen from the other side') && thread.account.host === new URL(b.base).host,
        )
      })
    },
    () => `${a.base}/api/v1/videos/${second.uuid}/comment-threads`,
  )
  await step('a like made on B reaches A', async () => {
    await onB.send('PUT', `/api/v1/videos/${second.uuid}/rate`, { rating: 'like' })
    await eventually('the like on A', 20 * SECOND, async () => {
      return (await onA.get<VideoView>(`/api/v1/videos/${second.uuid}`)).likes === 1
    })
  })
  await step('a change made on A reaches B', async () => {
    await onA.send('PUT', `/api/v1/videos/${second.uuid}`, { name: 'The second journey, renamed' })
    await eventually('the new name on B', 20 * SECOND, async () => {
      return (await onB.get<VideoView>(`/api/v1/videos/${second.uuid}`)).name === 'The second journey, renamed'
    })
  })
  await step('a removal on A reaches B', async () => {
    await onA.send('DELETE', `/api/v1/videos/${second.uuid}`)
    await eventually('the removal on B', 20 * SECOND, async () => {
      return (await onB.raw(`/api/v1/videos/${second.uuid}`)).status === 404
    })
  })

  await step('B unfollows A', async () => {
    await onB.send('DELETE', `/api/v1/server/following/${new URL(a.base).host}`)
    await eventually('the end of the follow on A', 20 * SECOND, async () => {
      return (await onA.get<List<unknown>>('/api/v1/server/followers')).total === 0
    })
  })
  await step('a further video of A does not come to B', async () => {
    const form = new FormData()
    form.set('channelId', String(channelId))
    form.set('name', 'Not for B')
    form.set('privacy', '1')
    form.set('videofile', new File([new Uint8Array(video.bytes)], 'third.mp4', { type: 'video/mp4' }))
    const { video: third } = await onA.send<Uploaded>('POST', '/api/v1/videos/upload', form)
    await published(onA, third.uuid, transcodingMs)
    await eventually('the third video in the list of A', 20 * SECOND, () => find(onA, third.uuid))
    // Later activities of A's account have arrived at B: if the video had been sent, it would have come before.
    await converse(onA, onB, first.uuid)
    verify((await find(onB, third.uuid)) === undefined, 'no video on B after the unfollow')
  })
  await step('the jobs of both come to rest', () => comeToRest([onA, onB]))
}

/** Waits until no job is waiting, active or delayed, except repeating ones. */
export async function comeToRest(clients: readonly Client[]): Promise<void> {
  for (const client of clients) {
    let last: string[] = []
    await eventually(`the end of the jobs of ${client.base}`, 120 * SECOND, async () => {
      const lists = await Promise.all(
        ['waiting', 'active', 'delayed'].map((state) =>
          client.get<List<{ type: string; state: string }>>(`/api/v1/jobs/${state}?count=50`),
        ),
      )
      const open = lists.flatMap(({ data }) => data).filter(({ type }) => type !== 'videos-views-stats')
      last = open.map(({ type, state }) => `${type} ${state}`)
      return open.length === 0
    }).catch((error: unknown) => {
      throw new Error(`${String(error)}: ${last.join(', ')}`, { cause: error })
    })
  }
}

/** B comments on a video of A, and A's reply arrives at B. */
async function converse(onA: Client, onB: Client, uuid: string): Promise<void> {
  interface Thread {
    id: number
    text: string
    totalReplies: number
  }
  const threads = async (client: Client) =>
    (await client.get<List<Thread>>(`/api/v1/videos/${uuid}/comment-threads`)).data.find((one) => one.text.includes('Still there?'))
  await onB.send('POST', `/api/v1/videos/${uuid}/comment-threads`, { text: 'Still there?' })
  const question = await eventually('the question on A', 20 * SECOND, () => threads(onA))
  await onA.send('POST', `/api/v1/videos/${uuid}/comments/${question.id}`, { text: 'Yes.' })
  await eventually('the answer on B', 20 * SECOND, async () => (await threads(onB))?.totalReplies === 1)
}

async function published(client: Client, uuid: string, withinMs: number): Promise<VideoView> {
  return await eventually('the publication', withinMs, async () => {
    const view = await client.get<VideoView>(`/api/v1/videos/${uuid}`)
    verify(view.state.id !== 7, 'a transcoding that does not fail')
    return view.state.id === 1 ? view : undefined
  })
}

/** The lower half of the ladder, which is made last. */
async function allRenditions(client: Client, uuid: string, withinMs: number): Promise<void> {
  await eventually('the end of the transcoding', withinMs, async () => {
    const view = await client.get<VideoView>(`/api/v1/videos/${uuid}`)
    const files = view.streamingPlaylists[0]?.files ?? []
    const resolutions = files.map((file) => file.resolution.id)
    return [144, 240, 360].every((resolution) => resolutions.includes(resolution))
  })
}

async function find(client: Client, uuid: string): Promise<{ uuid: string } | undefined> {
  const list = await client.get<List<{ uuid: string }>>('/api/v1/videos?count=100')
  return list.data.find((video) => video.uuid === uuid)
}

async function listed(client: Client, uuid: string): Promise<void> {
  verify(await find(client, uuid), 'the video in the list')
}

async function page(client: Client, video: { uuid: string; shortUUID: string }): Promise<void> {
  for (const path of [`/w/${video.shortUUID}`, `/videos/watch/${video.uuid}`]) {
    const response = await fetch(`${client.base}${path}`, { headers: { accept: 'text/html' } })
    const html = await response.text()
    verify(response.status === 200 && /text\/html/.test(response.headers.get('content-type') ?? ''), `a page at ${path}`)
    verify(html.includes('og:title') && html.includes('The first journey'), 'OpenGraph tags')
    verify(html.includes('application/json+oembed'), 'a link to oEmbed')
  }
  const document = await fetch(`${client.base}/videos/watch/${video.uuid}`, {
    headers: { accept: 'application/activity+json' },
  })
  const activity = (await document.json()) as { type: string; uuid: string }
  verify(activity.type === 'Video' && activity.uuid === video.uuid, 'an ActivityPub document at the same address')
}

/** ffprobe reads the master playlist over HTTP, as a player does. */
async function plays(view: VideoView, seconds: number, ffprobePath: string): Promise<void> {
  const playlist = view.streamingPlaylists[0]
  verify(playlist, 'an HLS playlist')
  const { stdout } = await run(ffprobePath, [
    '-v',
    'error',
    '-show_entries',
    'format=duration:stream=codec_type',
    '-of',
    'json',
    playlist.playlistUrl,
  ])
  const probe = JSON.parse(stdout) as { format: { duration: string }; streams: { codec_type: string }[] }
  const kinds = new Set(probe.streams.map((stream) => stream.codec_type))
  verify(kinds.has('video') && kinds.has('audio'), 'picture and sound')
  verify(Math.abs(Number(probe.format.duration) - seconds) < 1, `${seconds} s, not ${probe.format.duration}`)
}

async function ranges(view: VideoView): Promise<void> {
  const file = view.streamingPlaylists[0]?.files[0]
  verify(file, 'a file')
  const whole = await fetch(file.fileUrl, { method: 'HEAD' })
  verify(whole.headers.get('accept-ranges') === 'bytes', 'files in ranges')
  verify(Number(whole.headers.get('content-length')) === file.size, 'the size of the file')
  const part = await fetch(file.fileUrl, { headers: { range: 'bytes=0-99' } })
  verify(part.status === 206 && (await part.arrayBuffer()).byteLength === 100, 'the first hundred bytes')
  const etag = whole.headers.get('etag')
  verify(etag, 'an ETag')
  const again = await fetch(file.fileUrl, { headers: { 'if-none-match': etag } })
  verify(again.status === 304, '304 for a known ETag')
}
