// Media operations whose process crashes before or after a call of the store, at the first and the last of each kind. The next process
// always completes or undoes the operation, and every file is named by a row.

import { copyFile, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { makeAwaitedVideos, makeInspectFile } from '../../../src/actors/video/index.ts'
import { makeVideoImports, type RunImportDeps, runImports } from '../../../src/actors/video-import/index.ts'
import type { Values } from '../../../src/config/layers.ts'
import { automaticTagsFor } from '../../support/automatic-tags.ts'
import { abandonLeases, type CrashingProcess, makeCrashingProcess } from '../../support/crashing-process.ts'
import { type DiskSnapshot, takeSnapshot } from '../../support/disk-snapshot.ts'
import { media } from '../../support/media.ts'
import { eventually } from '../../support/until.ts'
import { allFiles, createVideoOf, type Disk, makeDisk, rowCounts, startNode, type UploadNode } from './node.ts'

const SMALLEST = {
  '0p': false,
  '144p': true,
  '240p': false,
  '360p': false,
  '480p': false,
  '720p': false,
  '1080p': false,
  '1440p': false,
  '2160p': false,
}
const AS_IT_IS = {
  transcoding: { enabled: false },
  video_studio: { enabled: true },
  video_file: { update: { enabled: true } },
  import: { videos: { http: { enabled: true } } },
}
const LADDER = {
  ...AS_IT_IS,
  transcoding: {
    enabled: true,
    always_transcode_original_resolution: false,
    resolutions: SMALLEST,
    web_videos: { enabled: true },
  },
}

/** In ms. Due work rings the doorbell, and polls are expensive with this many processes. */
const SLOW_POLLING = { sweepIntervalMs: 150, relayIntervalMs: 60 }

let disk: Disk
let small: Buffer
let other: Buffer
let empty: DiskSnapshot
/** Crash points that all operations share, such as those of pictures and work folders, are tested once. */
const shared = new Set<string>()
const isShared = (point: string): boolean => /thumbnails|previews|[wW]orkFolder$/.test(point)
beforeAll(async () => {
  disk = await makeDisk()
  small = await readFile(await media('small.mp4'))
  other = await readFile(await media('red.mp4'))
  empty = await takeSnapshot(disk)
})
afterAll(() => disk?.remove())

async function start(config: Values, crashing?: CrashingProcess): Promise<UploadNode> {
  const node = await startNode(disk, {
    config,
    running: false,
    settings: SLOW_POLLING,
    ...(crashing ? { wrapStore: crashing.wrapStore, wrapDatabase: crashing.wrapDatabase } : {}),
  })
  runImports(importsOf(node))
  return node
}

/** A foreign site that serves the same file for each download. */
function importsOf(node: UploadNode): RunImportDeps {
  const inspectFile = makeInspectFile(node.deps)
  return {
    ...node.deps,
    inspectFile,
    createVideo: node.createVideo,
    mayImportFrom: async () => true,
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

const create = (node: UploadNode, file: 'small.mp4' | 'red.mp4' = 'small.mp4') =>
  createVideoOf(node, disk.users.owner, { file, waitTranscoding: true })

const send = (node: UploadNode, method: string, path: string, token: string, body?: RequestInit) =>
  fetch(`${node.base}${path}`, {
    ...body,
    method,
    headers: { authorization: `Bearer ${token}`, ...body?.headers },
  })

/** Opens a resumable upload; returns its id. */
async function open(node: UploadNode, path: string, length: number, fields: object): Promise<string> {
  const headers = {
    'content-type': 'application/json',
    'x-upload-content-type': 'video/mp4',
    'x-upload-content-length': String(length),
  }
  const answer = await send(node, 'POST', path, disk.users.owner.token, { headers, body: JSON.stringify(fields) })
  expect(answer.status).toBe(201)
  return answer.headers.get('location')?.split('upload_id=')[1] ?? ''
}

/** Resumes like an interrupted client: queries the offset, sends the rest, and queries again. */
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
  })
}

/** Checks that every file of a row exists, every existing file has a row, and no file is pending. */
const untilTidy = (node: UploadNode) =>
  eventually(async () => {
    // Advances the clock.
    await node.runtime.runtime.sweeper.run(['video-removal', 'pending-files', 'work-folders'])
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
  })

interface Path {
  name: string
  config: Values
  /** The state before: created by a process that does not crash. */
  before(node: UploadNode): Promise<unknown>
  /** The request to the crashing process, unless it runs pending work. */
  ask?(node: UploadNode, made: never): Promise<unknown>
  /** What the client does with the next process. */
  after?(node: UploadNode, made: never): Promise<unknown>
  /** The expected final state. */
  result(node: UploadNode): Promise<unknown>
}

const video = async (node: UploadNode) => ({
  videos: await node.db.query('select state from video'),
  files: await node.db.query('select resolution, streaming_playlist_id is not null as hls from video_file order by hls, resolution'),
})
const PUBLISHED = [{ state: 'published' }]
const UPLOADS = '/api/v1/videos/upload-resumable'
const at = (uuid: string, path: string): string => `/api/v1/videos/${uuid}/${path}`
const FIELDS = () => ({ channelId: disk.users.owner.channelId, name: 'A name', filename: 'small.mp4', privacy: 1 })
const replacementOf = (uuid: string): string => at(uuid, 'source/replace-resumable')

const paths: Path[] = [
  {
    name: 'the end of an upload',
    config: AS_IT_IS,
    before: (node) => open(node, UPLOADS, small.length, FIELDS()),
    ask: (node, id) => proceed(node, UPLOADS, id, small),
    after: (node, id) => proceed(node, UPLOADS, id, small),
    result: async (node) => expect(await video(node)).toEqual({ videos: PUBLISHED, files: [{ resolution: 240, hls: false }] }),
  },
  {
    name: 'a transcoding',
    config: LADDER,
    before: (node) => create(node),
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
    name: 'the replacement of a source',
    config: AS_IT_IS,
    async before(node) {
      const { uuid } = await create(node)
      return { uuid, id: await open(node, replacementOf(uuid), other.length, { filename: 'red.mp4' }) }
    },
    ask: (node, { uuid, id }: { uuid: string; id: string }) => proceed(node, replacementOf(uuid), id, other),
    after: (node, { uuid, id }: { uuid: string; id: string }) => proceed(node, replacementOf(uuid), id, other),
    async result(node) {
      expect(await video(node)).toMatchObject({ videos: PUBLISHED, files: [{ hls: false }] })
      const [file] = await node.db.query<{ filename: string }>('select filename from video_file')
      expect(await disk.store.read(`web_videos/${file?.filename}`)).toEqual(other)
    },
  },
  {
    name: 'an edition in the studio',
    config: AS_IT_IS,
    async before(node) {
      const { uuid } = await create(node, 'red.mp4')
      const form = new FormData()
      form.set('tasks[0][name]', 'add-intro')
      form.set('tasks[0][options][file]', new Blob([new Uint8Array(other)]), 'red.mp4')
      const answer = await send(node, 'POST', at(uuid, 'studio/edit'), disk.users.owner.token, { body: form })
      expect(answer.status).toBe(204)
    },
    async result(node) {
      await eventually(async () =>
        expect(await node.db.query('select state, duration from video')).toEqual([{ state: 'published', duration: 2 }]),
      )
      expect(await video(node)).toMatchObject({ videos: PUBLISHED, files: [{ hls: false }] })
    },
  },
  {
    name: 'an import',
    config: AS_IT_IS,
    before: (node) =>
      makeVideoImports(importsOf(node)).request({
        userId: disk.users.owner.id,
        channelId: disk.users.owner.channelId,
        targetUrl: 'http://elsewhere.example/watch',
      }),
    async result(node) {
      await eventually(async () => expect(await node.db.query('select state from video_import')).toEqual([{ state: 'success' }]))
      expect(await video(node)).toEqual({ videos: PUBLISHED, files: [{ resolution: 240, hls: false }] })
    },
  },
  {
    name: 'the removal of renditions',
    config: LADDER,
    async before(node) {
      const { uuid } = await create(node)
      await node.runtime.runtime.start()
      await eventually(async () => expect((await video(node)).files).toHaveLength(2))
      await untilTidy(node)
      return uuid
    },
    ask: async (node, uuid) => await send(node, 'DELETE', at(uuid, 'hls'), disk.users.admin.token),
    // A repeated request succeeds, or the first one did.
    after: async (node, uuid) => await send(node, 'DELETE', at(uuid, 'hls'), disk.users.admin.token),
    result: async (node) => expect(await video(node)).toEqual({ videos: PUBLISHED, files: [{ resolution: 144, hls: false }] }),
  },
  {
    name: 'the removal of a video',
    config: AS_IT_IS,
    before: (node) => create(node),
    ask: (node, { id }: { id: number }) => node.removeVideo.remove(id, disk.users.owner),
    after: (node, { id }: { id: number }) => node.removeVideo.remove(id, disk.users.owner).catch(() => undefined),
    result: (node) => eventually(async () => expect((await video(node)).videos).toEqual([])),
  },
]

describe.each(paths)('a process that crashes during $name', ({ config, before, ask, after, result }) => {
  async function end(node: UploadNode): Promise<void> {
    await result(node)
    await untilTidy(node)
  }

  /** Returns the crash points of the operation. */
  async function runToEnd(made: never): Promise<string[]> {
    const crashing = makeCrashingProcess()
    const node = await start(config, crashing)
    await node.runtime.runtime.start()
    await ask?.(node, made)
    await end(node)
    await node.stop()
    return crashing.crashPoints
  }

  async function crashAt(made: never, fatal: number): Promise<void> {
    const crashing = makeCrashingProcess(fatal)
    const first = await crashing.run(() => start(config, crashing))
    // Neither resolves after a crash.
    const began = crashing.run(() => first.runtime.runtime.start().then(() => ask?.(first, made)))
    began.catch(() => undefined)
    // With another order of its work it may not reach that crash point.
    const survived = began.then(() => end(first)).then(() => true)
    survived.catch(() => undefined)
    const isAlive = await Promise.race([crashing.crashed.then(() => false), survived.catch(() => crashing.crashed.then(() => false))])
    if (isAlive) {
      await first.stop()
      await crashing.cleanUp()
      return
    }
    first.app.server.close()
    first.app.server.closeAllConnections()
    const next = await start(config)
    try {
      await abandonLeases(next.db)
      await next.runtime.runtime.start()
      await after?.(next, made)
      await end(next)
    } finally {
      await next.stop()
      await crashing.cleanUp()
    }
  }

  it('leaves work that the next process completes, at every crash point', async () => {
    const maker = await start(config)
    const made = (await before(maker)) as never
    await maker.stop()
    const snapshot = await takeSnapshot(disk)
    const points = await runToEnd(made)
    expect(points.length).toBeGreaterThan(1)
    for (const [at, name] of points.entries()) {
      // The same code handles all files of a kind.
      if (shared.has(name) || (at !== points.indexOf(name) && at !== points.lastIndexOf(name))) continue
      await snapshot.restore()
      try {
        await crashAt(made, at + 1)
      } catch (error) {
        throw new Error(`It crashed ${name} (point ${at + 1} of ${points.length}).`, { cause: error })
      }
    }
    for (const name of points) if (isShared(name)) shared.add(name)
    await snapshot.drop()
    await empty.restore()
  })
})
