// Checks of videos: whether a video is published with all its renditions, and whether its files are whole.

import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { type Client, eventually } from '../../../scripts/demo/client.ts'
import { cachedFile } from '../../support/media.ts'

const PUBLISHED = 1

interface VideoView {
  state: { id: number }
  streamingPlaylists: {
    playlistUrl: string
    segmentsSha256Url: string
    files: { resolution: { id: number }; fileUrl: string; size: number }[]
  }[]
}

/** A video of 640 × 360 px with sound, which gets four renditions. Cached between runs. */
export async function makeVideo(seconds: number): Promise<Buffer> {
  const recipe = [
    '-f',
    'lavfi',
    '-i',
    `testsrc2=size=640x360:rate=10:duration=${seconds}`,
    '-f',
    'lavfi',
    '-i',
    `sine=frequency=440:duration=${seconds}`,
    '-c:v',
    'libx264',
    '-preset',
    'ultrafast',
    '-pix_fmt',
    'yuv420p',
    '-c:a',
    'aac',
  ]
  const path = await cachedFile(`chaos-${seconds}.mp4`, JSON.stringify(recipe), (target, { ffmpegPath }) =>
    promisify(execFile)(ffmpegPath, ['-v', 'error', '-y', ...recipe, target]),
  )
  return await readFile(path)
}

/** Heights of a published video's renditions, in descending order; undefined while it is not published. */
export async function ladderOf(client: Client, uuid: string): Promise<number[] | undefined> {
  const view = await client.get<VideoView>(`/api/v1/videos/${uuid}`)
  if (view.state.id !== PUBLISHED) return undefined
  const heights = (view.streamingPlaylists[0]?.files ?? []).map((file) => file.resolution.id)
  return heights.sort((a, b) => b - a)
}

/** Waits until the video is published with these renditions, and their files are served in full size. */
export async function untilWhole(client: Client, uuid: string, ladder: number[], withinMs = 600_000): Promise<void> {
  // Until then its files may be renamed.
  await eventually(`the whole ladder ${ladder} of ${uuid}`, withinMs, async () => {
    if (String(await ladderOf(client, uuid)) !== String(ladder)) return false
    await assertWhole(await client.get<VideoView>(`/api/v1/videos/${uuid}`))
    return true
  })
}

/** Throws if a file of the video is missing or incomplete. */
async function assertWhole(view: VideoView): Promise<void> {
  for (const { playlistUrl, segmentsSha256Url, files } of view.streamingPlaylists) {
    for (const url of [playlistUrl, segmentsSha256Url]) {
      const { status } = await fetch(url)
      if (status !== 200) throw new Error(`${url} answers ${status}.`)
    }
    for (const { fileUrl, size } of files) {
      const answer = await fetch(fileUrl, { method: 'HEAD' })
      const length = Number(answer.headers.get('content-length'))
      if (answer.status !== 200 || length !== size) throw new Error(`${fileUrl}: ${answer.status}, ${length} bytes.`)
    }
  }
}

export async function channelOf(client: Client): Promise<number> {
  const me = await client.get<{ videoChannels: { id: number }[] }>('/api/v1/users/me')
  const id = me.videoChannels[0]?.id
  if (id === undefined) throw new Error('There is no channel.')
  return id
}
