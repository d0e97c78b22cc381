// Other servers get the remaining files of a video after a removal, and the new ones after a transcoding.

import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals'
import { type FakePeer, type JsonObject, startFakePeer } from '../support/fake-peer.ts'
import { media } from '../support/media.ts'
import { until } from '../support/until.ts'
import { type FederatedNode, introduce, startFederatedNode } from './support.ts'

const resolutions = {
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

let node: FederatedNode
let near: FakePeer
let video: { uuid: string; url: string }

beforeAll(async () => {
  ;[node, near] = await Promise.all([
    startFederatedNode({ transcoding: { enabled: true, resolutions, web_videos: { enabled: true } } }),
    startFakePeer(),
  ])
  const { account } = await introduce(node, near, 'nora')
  await node.deliver(account, near.activity(account, 'Follow', `${node.base}/accounts/root`))
  await near.awaited('the answer', () => near.of('Accept').length === 1)
})
afterAll(async () => {
  await Promise.all([near?.close(), node?.stop()])
})
beforeEach(async () => {
  video = await node.upload(await readFile(await media('small.mp4')))
  await sent({ web: 2, hls: 2 })
  await until(async () => (await node.query("select 1 from transcoding where state <> 'done'")).length === 0)
  near.received.length = 0
})

interface Names {
  web: string[]
  hls: string[]
  master: string[]
}

/** The file names in a document. */
function namesIn(document: unknown): Names {
  const urls = [...new Set(JSON.stringify(document ?? null).match(/https?:[^"?&\\]+/g) ?? [])]
  const names = (part: RegExp): string[] => urls.flatMap((url) => (part.test(url) ? [url.slice(url.lastIndexOf('/') + 1)] : [])).sort()
  return {
    web: names(/\/static\/web-videos\/.*\.mp4$/),
    hls: names(/\/static\/streaming-playlists\/.*\.mp4$/),
    master: names(/-master\.m3u8$/),
  }
}

/** The file names in the last Update or Create of the video. */
function lastTold(): Names {
  const about = near.received.filter(({ activity }) => (activity.object as JsonObject | undefined)?.id === video.url)
  return namesIn(about.at(-1)?.activity)
}

const sent = (counts: { web: number; hls: number }): Promise<Names> =>
  until(
    async () => {
      const names = lastTold()
      return names.web.length === counts.web && names.hls.length === counts.hls ? names : undefined
    },
    { what: `word of ${JSON.stringify(counts)}` },
  )

async function send(method: string, path: string, body?: object): Promise<number> {
  const answer = await fetch(`${node.base}/api/v1/videos/${video.uuid}/${path}`, {
    method,
    headers: {
      authorization: node.client.authorization,
      ...(body ? { 'content-type': 'application/json' } : {}),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  return answer.status
}

const served = async (): Promise<Names> =>
  namesIn(await (await fetch(video.url, { headers: { accept: 'application/activity+json' } })).json())

it('a removal sends one Update with the remaining files', async () => {
  const before = await served()
  expect(await send('DELETE', 'web-videos')).toBe(204)
  expect(await sent({ web: 0, hls: 2 })).toEqual({ web: [], hls: before.hls, master: before.master })
  // The document contains no removed file either.
  expect(await served()).toEqual({ web: [], hls: before.hls, master: before.master })
  expect(near.received.map(({ activity }) => activity.type)).toEqual(['Update'])

  const answer = await fetch(`${node.base}/api/v1/videos/${video.uuid}`)
  const { streamingPlaylists } = (await answer.json()) as { streamingPlaylists: { files: { id: number }[] }[] }
  expect(await send('DELETE', `hls/${streamingPlaylists[0]?.files[0]?.id}`)).toBe(204)
  const left = await sent({ web: 0, hls: 1 })
  expect(before.hls).toContain(left.hls[0])
  expect(left.master).toHaveLength(1)
  expect(left.master).not.toEqual(before.master)
})

it('new renditions send Updates that name them, and never a Create', async () => {
  const before = await served()
  expect(await send('POST', 'transcoding', { transcodingType: 'hls' })).toBe(204)
  const after = await until(
    async () => {
      const names = lastTold()
      return names.hls.length === 2 && !names.hls.some((name) => before.hls.includes(name)) ? names : undefined
    },
    { what: 'word of the new files' },
  )
  expect(after.web).toEqual(before.web)
  await until(async () => JSON.stringify(await served()) === JSON.stringify(lastTold()) || undefined, {
    what: 'the last word',
  })
  expect(new Set(near.received.map(({ activity }) => activity.type))).toEqual(new Set(['Update']))
})
