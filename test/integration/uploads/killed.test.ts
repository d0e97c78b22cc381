// Media paths whose process dies at each call of the store, before it and after it: whatever the moment, the next process makes of it
// what should have become of it, and every file that is there is named by a row.

import { copyFile, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import { makeAwaitedVideos, makeInspectFile } from '../../../src/actors/video/index.ts'
import { makeVideoImports, type RunImportDeps, runImports } from '../../../src/actors/video-import/index.ts'
import type { Values } from '../../../src/config/layers.ts'
import { automaticTagsFor } from '../../support/automatic-tags.ts'
import { copyOfMedia, media } from '../../support/media.ts'
import { declareDead, type Mortal, makeMortal } from '../../support/mortal.ts'
import { eventually } from '../../support/waiting.ts'
import { allFiles, type Disk, makeDisk, rowCounts, startNode, type UploadNode } from './node.ts'

const SMALLEST = {
  ...{ '0p': false, '144p': true, '240p': false, '360p': false, '480p': false },
  ...{ '720p': false, '1080p': false, '1440p': false, '2160p': false },
}
const AS_IT_IS = {
  transcoding: { enabled: false },
  import: { videos: { http: { enabled: true } } },
}
const LADDER = {
  ...AS_IT_IS,
  transcoding: {
    ...{ enabled: true, always_transcode_original_resolution: false, resolutions: SMALLEST },
    web_videos: { enabled: true },
  },
}

let disk: Disk
let small: Buffer
const nodes: { node: UploadNode; mortal?: Mortal }[] = []
beforeAll(async () => {
  disk = await makeDisk()
  small = await readFile(await media('small.mp4'))
}, 90_000)
afterAll(() => disk?.remove(), 60_000)
afterEach(clear, 60_000)

async function clear(): Promise<void> {
  for (const { node, mortal } of nodes.splice(0)) {
    if (await mortal?.bury()) node.app.server.close()
    else await node.stop()
  }
  const cleaner = await startNode(disk, { running: false })
  for (const table of ['job', 'outbox', 'upload', 'video_import', 'video', 'pending_file']) {
    await cleaner.db.query(`delete from ${table}`)
  }
  await cleaner.stop()
  await disk.store.clear()
}

async function start(config: Values, mortal?: Mortal, running = true): Promise<UploadNode> {
  const node = await startNode(disk, {
    ...{ config, running: false },
    ...(mortal ? { wrapStore: mortal.wrapStore, wrapDatabase: mortal.wrapDatabase } : {}),
  })
  runImports(importsOf(node))
  nodes.push({ node, ...(mortal ? { mortal } : {}) })
  if (running) await node.runtime.runtime.start()
  return node
}

/** Another site, from which each download is the same file. */
function importsOf(node: UploadNode): RunImportDeps {
  const inspectFile = makeInspectFile(node.deps)
  return {
    ...{ ...node.deps, inspectFile, createVideo: node.createVideo, mayImportFrom: async () => true },
    awaitedVideos: makeAwaitedVideos({ ...node.deps, inspectFile, automaticTags: automaticTagsFor(node.deps) }),
    captions: { set: async () => undefined },
    downloads: {
      async download(_source, { folder }) {
        const path = join(folder, 'download.mp4')
        await copyFile(await media('small.mp4'), path)
        return { path, fileName: 'download.mp4', metadata: { title: 'From elsewhere', tags: [] } }
      },
      listRemoteVideos: async () => [],
    },
  }
}

async function create(node: UploadNode) {
  return await node.createVideo.createFrom({
    userId: disk.users.owner.id,
    fields: {
      ...{ channelId: disk.users.owner.channelId, name: 'A name', privacy: 1, category: null, licence: null },
      ...{ language: null, nsfw: false, description: null, support: null, waitTranscoding: true },
      ...{ commentsPolicy: 1, downloadEnabled: true, tags: [], originallyPublishedAt: null, passwords: [] },
      schedule: null,
    },
    inputFilename: 'small.mp4',
    path: await copyOfMedia('small.mp4'),
    pictures: {},
  })
}

const send = (node: UploadNode, method: string, path: string, token: string, body?: RequestInit) =>
  fetch(`${node.base}${path}`, {
    ...body,
    method,
    headers: { authorization: `Bearer ${token}`, ...body?.headers },
  })

/** Opens a resumable upload; answers its id. */
async function open(node: UploadNode, path: string, length: number, fields: object): Promise<string> {
  const headers = {
    ...{ 'content-type': 'application/json', 'x-upload-content-type': 'video/mp4' },
    'x-upload-content-length': String(length),
  }
  const answer = await send(node, 'POST', path, disk.users.owner.token, { headers, body: JSON.stringify(fields) })
  expect(answer.status).toBe(201)
  return answer.headers.get('location')?.split('upload_id=')[1] ?? ''
}

/** As a client that was interrupted does it: asks how far it came, sends the rest, and asks again. */
async function proceed(node: UploadNode, path: string, id: string, bytes: Buffer): Promise<void> {
  const put = async (range: string, body?: Buffer) =>
    await send(node, 'PUT', `${path}?upload_id=${id}`, disk.users.owner.token, {
      headers: { 'content-type': 'application/octet-stream', 'content-range': range },
      ...(body ? { body: new Uint8Array(body) } : {}),
    })
  await eventually(async () => {
    const status = await put(`bytes */${bytes.length}`)
    if (status.status === 200 || status.status === 204) return
    expect(status.status).toBe(308)
    const from = Number(/^bytes=0-(\d+)$/.exec(status.headers.get('range') ?? '')?.[1] ?? -1) + 1
    const answer = await put(`bytes ${from}-${bytes.length - 1}/${bytes.length}`, bytes.subarray(from))
    expect([200, 204]).toContain(answer.status)
  }, 20_000)
}

/** Each file that rows name is there, each that is there is named, and nobody notes one that is on its way. */
const untilTidy = (node: UploadNode) =>
  eventually(async () => {
    const named = await node.db.query<{ name: string }>(
      `with o as (select id, uuid, case when privacy in (1, 2) then '' else 'private/' end as hidden from video)
       select 'web_videos/' || hidden || filename as name from video_file f join o on o.id = f.video_id
         where streaming_playlist_id is null
       union all select 'streaming_playlists/hls/' || hidden || uuid || '/' || n from video_file f
         join o on o.id = f.video_id cross join unnest(array[filename, playlist_filename]) n
         where streaming_playlist_id is not null
       union all select 'streaming_playlists/hls/' || hidden || uuid || '/' || n from streaming_playlist p
         join o on o.id = p.video_id cross join unnest(array[playlist_filename, segments_sha256_filename]) n
       union all select case type when 1 then 'thumbnails/' else 'previews/' end || filename from thumbnail
       union all select 'original_video_files/' || kept_filename from video_source where kept_filename is not null`,
    )
    expect(await allFiles(disk)).toEqual(named.map(({ name }) => name).sort())
    expect(await rowCounts(node.db)).toMatchObject({ pending_file: 0 })
    expect(await node.db.query("select 1 from upload where state in ('created', 'receiving', 'assembled')")).toEqual([])
    expect(await node.db.query("select 1 from job where state not in ('completed')")).toEqual([])
  }, 20_000)

interface Path {
  name: string
  config: Values
  /** What there is before: made by a process that lives. */
  before(node: UploadNode): Promise<unknown>
  /** What the mortal process is asked for, if it is not to do what waits. */
  ask?(node: UploadNode, made: never): Promise<unknown>
  /** What whoever asked does when there is another process. */
  after?(node: UploadNode, made: never): Promise<unknown>
  /** What has to be true in the end. */
  result(node: UploadNode): Promise<unknown>
}

const video = async (node: UploadNode) => ({
  videos: await node.db.query('select state from video'),
  files: await node.db.query(
    'select resolution, streaming_playlist_id is not null as hls from video_file order by hls, resolution',
  ),
})
const PUBLISHED = [{ state: 'published' }]
const UPLOADS = '/api/v1/videos/upload-resumable'
const FIELDS = () => ({ channelId: disk.users.owner.channelId, name: 'A name', filename: 'small.mp4', privacy: 1 })

const paths: Path[] = [
  {
    name: 'the end of an upload',
    config: AS_IT_IS,
    before: (node) => open(node, UPLOADS, small.length, FIELDS()),
    ask: (node, id) => proceed(node, UPLOADS, id, small),
    after: (node, id) => proceed(node, UPLOADS, id, small),
    result: async (node) =>
      expect(await video(node)).toEqual({ videos: PUBLISHED, files: [{ resolution: 240, hls: false }] }),
  },
  {
    name: 'a transcoding',
    config: LADDER,
    before: create,
    result: (node) =>
      eventually(async () =>
        expect(await video(node)).toEqual({
          videos: PUBLISHED,
          files: [
            { resolution: 144, hls: false },
            { resolution: 144, hls: true },
          ],
        }),
      ),
  },
  {
    name: 'an import',
    config: AS_IT_IS,
    before: (node) =>
      makeVideoImports(importsOf(node)).request({
        ...{ userId: disk.users.owner.id, channelId: disk.users.owner.channelId },
        targetUrl: 'http://elsewhere.example/watch',
      }),
    async result(node) {
      await eventually(async () =>
        expect(await node.db.query('select state from video_import')).toEqual([{ state: 'success' }]),
      )
      expect(await video(node)).toEqual({ videos: PUBLISHED, files: [{ resolution: 240, hls: false }] })
    },
  },
]

describe.each(paths)('a process that dies during $name', ({ config, before, ask, after, result }) => {
  /** Answers at which moments it could have died. */
  async function live(fatal?: number): Promise<string[]> {
    const first = await start(config, undefined, false)
    const made = (await before(first)) as never
    nodes.length = 0
    await first.stop()
    const mortal = makeMortal(fatal)
    const second = await start(config, mortal)
    const asked = ask?.(second, made)
    asked?.catch(() => undefined)
    const survived = async (): Promise<boolean> => {
      await asked
      await result(second)
      await untilTidy(second)
      return true
    }
    const surviving = survived()
    // Of a dead one it is not heard, and it may have had no more to do than this.
    if (fatal !== undefined) surviving.catch(() => undefined)
    const died = mortal.died.then(() => false)
    if (await Promise.race([died, fatal === undefined ? surviving : surviving.catch(() => died)])) return mortal.moments
    second.app.server.closeAllConnections()
    const third = await start(config, undefined, false)
    await declareDead(third.db)
    await third.runtime.runtime.start()
    await after?.(third, made)
    await result(third)
    await untilTidy(third)
    return mortal.moments
  }

  it('leaves nothing to wish for, whenever that is', async () => {
    const moments = await live()
    expect(moments.length).toBeGreaterThan(1)
    for (let fatal = 1; fatal <= moments.length; fatal += 1) {
      await clear()
      try {
        await live(fatal)
      } catch (error) {
        throw new Error(`It died ${moments[fatal - 1]} (moment ${fatal} of ${moments.length}).`, { cause: error })
      }
    }
  }, 240_000)
})
