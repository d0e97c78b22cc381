// Files of a video while a job works on them: none is removed, and the job completes all of its files.

import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import type { Values } from '../../../src/config/layers.ts'
import { copyOfMedia, type MediaName } from '../../support/media.ts'
import { eventually, latch } from '../../support/until.ts'
import { allFiles, type Disk, makeDisk, startNode, type UploadNode } from './node.ts'

const LADDER = {
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
const BOTH: Values = {
  video_studio: { enabled: true },
  video_file: { update: { enabled: true } },
  transcoding: { enabled: true, resolutions: LADDER, web_videos: { enabled: true }, original_file: { keep: true } },
}
const ALL = ['hls 144', 'hls 240', 'web 144', 'web 240']

let disk: Disk
let node: UploadNode
beforeAll(async () => {
  disk = await makeDisk()
})
afterAll(() => disk.remove())
afterEach(async () => {
  for (const table of ['job', 'outbox', 'video', 'pending_file']) await node.db.query(`delete from ${table}`)
  await node.stop()
  await disk.store.clear()
})

const owner = () => disk.users.owner

async function create(name: MediaName = 'small.mp4', waitTranscoding = false) {
  return await node.createVideo.createFrom({
    userId: owner().id,
    fields: {
      channelId: owner().channelId,
      name: 'A name',
      privacy: 1,
      category: null,
      licence: null,
      language: null,
      nsfw: false,
      description: null,
      support: null,
      waitTranscoding,
      commentsPolicy: 1,
      downloadEnabled: true,
      tags: [],
      originallyPublishedAt: null,
      passwords: [],
      schedule: null,
    },
    inputFilename: name,
    path: await copyOfMedia(name),
    pictures: {},
  })
}

/** A published video with files of both formats and its original, on a server without running jobs. */
async function whole() {
  node = await startNode(disk, { config: BOTH })
  const made = await create()
  await atRest(made.id)
  await node.stop()
  node = await startNode(disk, { config: BOTH, running: false })
  return made
}

const atRest = (id: number) =>
  eventually(async () => {
    const [found] = await node.db.query(
      `select v.state, (select count(*)::int from transcoding t where t.video_id = v.id
         and t.state not in ('done', 'cancelled')) as open,
         (select count(*)::int from outbox) as outbox, (select count(*)::int from pending_file) as pending
       from video v where id = $1`,
      [id],
    )
    expect(found).toEqual({ state: 'published', open: 0, outbox: 0, pending: 0 })
  })

async function send(method: string, path: string, body: object | FormData | undefined, token: string) {
  const isForm = body instanceof FormData
  return await fetch(`${node.base}/api/v1/videos/${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      'x-upload-content-length': '1000',
      'x-upload-content-type': 'video/mp4',
      ...(body && !isForm ? { 'content-type': 'application/json' } : {}),
    },
    ...(body ? { body: isForm ? body : JSON.stringify(body) } : {}),
  })
}
const remove = async (path: string) => (await send('DELETE', path, undefined, disk.users.admin.token)).status

const shapes = async () =>
  (
    await node.db.query<{ shape: string }>(
      `select (case when streaming_playlist_id is null then 'web ' else 'hls ' end) || resolution as shape
       from video_file order by 1`,
    )
  ).map(({ shape }) => shape)

/** Every operation that removes a file. */
async function removals(uuid: string): Promise<Record<string, string>> {
  const idOf = async (where: string) =>
    (await node.db.query<{ id: number }>(`select id from video_file where streaming_playlist_id is ${where} limit 1`))[0]?.id
  const [hls, web] = [await idOf('not null'), await idOf('null')]
  return {
    ...(hls ? { 'the HLS files': `${uuid}/hls`, 'one HLS file': `${uuid}/hls/${hls}` } : {}),
    ...(web ? { 'the web videos': `${uuid}/web-videos`, 'one web video': `${uuid}/web-videos/${web}` } : {}),
    'the original': `${uuid}/source/file`,
  }
}

/** Whether a replacement of the video's file is accepted. */
async function replace(uuid: string): Promise<number> {
  const address = `${uuid}/source/replace-resumable`
  const answer = await send('POST', address, { filename: 'small.mp4' }, owner().token)
  const upload = new URL(answer.headers.get('location') ?? '', 'http://localhost').search
  if (answer.status === 201) await send('DELETE', address + upload, undefined, owner().token)
  return answer.status
}

const transcodeAgain = async ({ uuid }: { uuid: string }) => {
  const body = { transcodingType: 'hls' }
  expect((await send('POST', `${uuid}/transcoding`, body, disk.users.admin.token)).status).toBe(204)
}

const edit = async ({ uuid }: { uuid: string }) => {
  const form = new FormData()
  form.set('tasks[0][name]', 'cut')
  form.set('tasks[0][options][end]', '1')
  expect((await send('POST', `${uuid}/studio/edit`, form, owner().token)).status).toBe(204)
}

/** Blocks readers of stored files; resolves when one waits, with a function that releases it. */
function holdReaders() {
  const [begun, gate] = [latch(), latch()]
  const { withLocalPath } = node.store
  node.store.withLocalPath = async (ref, work, signal) =>
    await withLocalPath(
      ref,
      async (path) => {
        begun.open()
        await gate.opened
        return await work(path)
      },
      signal,
    )
  return { begun: begun.opened, letGo: gate.open }
}

interface Work {
  begin(video: { id: number; uuid: string }): Promise<(() => void) | undefined>
  /** Content of a replacement. */
  replaced: number
  before?: () => Promise<{ id: number; uuid: string }>
}

const works: Record<string, Work> = {
  'waits to be transcoded again': {
    replaced: 201,
    async begin(video) {
      await transcodeAgain(video)
      return undefined
    },
  },
  'is transcoded again': {
    replaced: 201,
    async begin(video) {
      const { begun, letGo } = holdReaders()
      await transcodeAgain(video)
      await node.runtime.runtime.start()
      await begun
      return letGo
    },
  },
  'waits for its first transcoding': {
    replaced: 409,
    async before() {
      node = await startNode(disk, { config: BOTH, running: false })
      return await create('small.mp4', true)
    },
    begin: async () => undefined,
  },
  'waits to be edited': {
    replaced: 409,
    async begin(video) {
      await edit(video)
      return undefined
    },
  },
  'is edited': {
    replaced: 409,
    async begin(video) {
      const { begun, letGo } = holdReaders()
      await edit(video)
      await node.runtime.runtime.start()
      await begun
      return letGo
    },
  },
}

describe('while a video', () => {
  it.each(Object.entries(works))('%s, none of its files can be removed, and all exist at the end', async (_what, work) => {
    const { before = whole, begin, replaced } = work
    const video = await before()
    const letGo = await begin(video)
    const found = { rows: await shapes(), files: (await allFiles(disk)).sort() }
    const paths = await removals(video.uuid)

    const answers = await Promise.all(
      Object.entries(paths).map(async ([what, path]) => {
        const answer = await send('DELETE', path, undefined, disk.users.admin.token)
        const { status, detail } = (await answer.json()) as { status: number; detail: string }
        return [what, answer.status, status, detail]
      }),
    )
    expect(answers).toEqual(Object.keys(paths).map((what) => [what, 409, 409, expect.stringMatching(/transcoded|made/)]))
    expect({ rows: await shapes(), files: (await allFiles(disk)).sort() }).toEqual(found)
    expect(await replace(video.uuid)).toBe(replaced)

    if (letGo) letGo()
    else await node.runtime.runtime.start()
    await atRest(video.id)
    expect(await shapes()).toEqual(ALL)

    // Nothing works on it any more.
    const { 'the HLS files': hls = '', 'the original': original = '' } = await removals(video.uuid)
    expect([await remove(hls), await remove(original)]).toEqual([204, 204])
    expect(await shapes()).toEqual(['web 144', 'web 240'])
  })

  it.each(['to-move-to-external-storage', 'to-move-to-file-system'])('is %s, no file can be removed', async (state) => {
    const { id, uuid } = await whole()
    await node.db.query('update video set state = $2 where id = $1', [id, state])
    for (const path of Object.values(await removals(uuid))) expect(await remove(path)).toBe(409)
    expect(await replace(uuid)).toBe(409)
    expect(await shapes()).toEqual(ALL)
  })
})

it('the original of a video with a failed transcoding remains, as its only file', async () => {
  node = await startNode(disk, { config: BOTH, running: false })
  const { id, uuid } = await create()
  await node.db.query("update transcoding set state = 'failed', due_at = null where video_id = $1", [id])
  await node.db.query("update video set state = 'transcoding-failed', due_at = null where id = $1", [id])
  const before = (await allFiles(disk)).filter((name) => name.startsWith('original_video_files/'))
  expect(before).toHaveLength(1)
  expect(await remove(`${uuid}/source/file`)).toBe(409)
  expect(await allFiles(disk)).toEqual(expect.arrayContaining(before))
  expect((await send('POST', `${uuid}/transcoding`, { transcodingType: 'hls' }, disk.users.admin.token)).status).toBe(204)
  await node.runtime.runtime.start()
  await atRest(id)
  expect(await remove(`${uuid}/source/file`)).toBe(204)
})
