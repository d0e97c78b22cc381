// Delivery of files by redirects to signed URLs of object storage, and a server with unavailable object storage.

import { readFile } from 'node:fs/promises'
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals'
import pg from 'pg'
import { pino } from 'pino'
import { type Client, login } from '../../../scripts/demo/client.ts'
import { media } from '../../support/media.ts'
import { startTestNode, type TestNode } from '../../support/node.ts'
import { everythingIn, startS3, type TestS3 } from '../../support/s3.ts'
import { eventually, until } from '../../support/until.ts'

interface View {
  uuid: string
  state: { id: number }
  files: { id: number; fileUrl: string; fileDownloadUrl: string; size: number; storage: number }[]
}

let s3: TestS3
/** Proxies private files. */
let node: TestNode
/** Another process that redirects to signed URLs. */
let signing: TestNode
let root: Client
let pool: pg.Pool
let bytes: Buffer
const lines: string[] = []

beforeAll(async () => {
  s3 = await startS3()
  const config = { ...everythingIn(s3.endpoint), transcoding: { enabled: false } }
  node = await startTestNode({ config })
  const { object_storage, vireo } = everythingIn(s3.endpoint)
  const shut = {
    object_storage: { ...object_storage, proxy: { proxify_private_files: false } },
    vireo: { object_storage: { ...vireo.object_storage, open_buckets: false, torrents: { bucket_name: 'nowhere' } } },
  }
  const logger = pino({ level: 'error' }, { write: (line: string) => void lines.push(line) })
  signing = await startTestNode({ config: { ...config, ...shut }, beside: node, roles: ['web'], logger })
  root = await login(node.base, node.username, node.password)
  pool = new pg.Pool({ connectionString: node.databaseUrl, max: 1 })
  pool.on('error', () => undefined)
  bytes = await readFile(await media('small.mp4'))
})
afterEach(() => s3.break(undefined))
afterAll(async () => {
  await pool?.end()
  await signing?.stop()
  await node?.stop()
  await s3.stop()
})

async function upload(privacy: number): Promise<View> {
  const channelId = (await root.get<{ videoChannels: { id: number }[] }>('/api/v1/users/me')).videoChannels[0]?.id
  const form = new FormData()
  for (const [name, value] of Object.entries({ channelId, name: 'A video', privacy })) form.set(name, String(value))
  form.set('videofile', new File([new Uint8Array(bytes)], 'small.mp4', { type: 'video/mp4' }))
  const { video } = await root.send<{ video: View }>('POST', '/api/v1/videos/upload', form)
  return await root.get<View>(`/api/v1/videos/${video.uuid}`)
}

const bySigning = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(new URL(path, signing.base), { method, headers, redirect: 'manual' })

it('redirects authorized readers of private files to signed URLs when files are not proxied', async () => {
  const { files } = await upload(3)
  const { pathname } = new URL(files[0]?.fileUrl ?? '')
  expect(pathname).toMatch(/^\/object-storage-proxy\/web-videos\/private\//)
  expect((await bySigning(pathname)).status).toBe(403)
  const { authorization } = root
  const answer = await bySigning(pathname, { authorization })
  expect([answer.status, answer.headers.get('cache-control')]).toEqual([302, 'private, no-store'])
  const signed = new URL(answer.headers.get('location') ?? '')
  expect([signed.origin, signed.searchParams.has('X-Amz-Signature')]).toEqual([s3.endpoint, true])
  const { length } = Buffer.from(await (await fetch(signed)).arrayBuffer())
  expect(length).toBeGreaterThan(1000)
  // The URL is signed for GET, and storage would refuse HEAD.
  const head = await bySigning(pathname, { authorization }, 'HEAD')
  expect([head.status, head.headers.get('content-length')]).toEqual([200, String(length)])
})

it('redirects to a signed URL for an archive', async () => {
  const { id } = await root.get<{ id: number }>('/api/v1/users/me')
  await root.send('POST', `/api/v1/users/${id}/exports/request`, { withVideoFiles: false })
  const made = await until(async () => {
    const { data } = await root.get<{ data: { size: number; privateDownloadUrl: string | null }[] }>(`/api/v1/users/${id}/exports`)
    return data[0]?.privateDownloadUrl ? { size: data[0].size, url: data[0].privateDownloadUrl } : undefined
  })
  const { pathname, search } = new URL(made.url)
  expect((await bySigning(`${pathname}?jwt=e30.e30.AAAA`)).status).toBe(403)
  const answer = await bySigning(`${pathname}${search}`)
  expect([answer.status, answer.headers.get('cache-control')]).toEqual([302, 'private, no-store'])
  const signed = new URL(answer.headers.get('location') ?? '')
  expect([signed.origin, signed.searchParams.has('X-Amz-Signature')]).toEqual([s3.endpoint, true])
  const saved = await fetch(signed)
  expect(saved.headers.get('content-disposition')).toMatch(/^attachment; filename="user-export-\d+-.*\.zip"$/)
  const archive = Buffer.from(await saved.arrayBuffer())
  expect([archive.length, archive.subarray(0, 2).toString()]).toEqual([made.size, 'PK'])
  const head = await bySigning(`${pathname}${search}`, {}, 'HEAD')
  expect([head.status, head.headers.get('content-length')]).toEqual([200, String(made.size)])
})

it('redirects downloads of public files to a signed URL, with the name of the video as the file name', async () => {
  const { uuid, files } = await upload(1)
  const [file] = files
  const download = new URL(file?.fileDownloadUrl ?? '')
  const generated = new URL(`/download/videos/generate/${uuid}?videoFileIds=${file?.id}`, node.base)
  for (const { address, name } of [
    { address: download, name: /^attachment; filename="A video-\d+p\.mp4"$/ },
    { address: generated, name: /^attachment; filename="A video\.mp4"$/ },
  ]) {
    const answer = await fetch(address, { redirect: 'manual' })
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([302, 'private, no-store'])
    const signed = new URL(answer.headers.get('location') ?? '')
    expect([signed.origin, signed.searchParams.has('X-Amz-Signature')]).toEqual([s3.endpoint, true])
    const part = await fetch(signed, { headers: { range: 'bytes=0-3' } })
    expect([part.status, part.headers.get('content-disposition')]).toEqual([206, expect.stringMatching(name)])
  }
  const head = await fetch(download, { method: 'HEAD', redirect: 'manual' })
  expect([head.status, head.headers.get('content-length')]).toEqual([200, String(file?.size)])
})

it('proxies downloads of private files, unless proxying is off', async () => {
  const [file] = (await upload(3)).files
  const { pathname } = new URL(file?.fileDownloadUrl ?? '')
  const { authorization } = root
  expect((await root.raw(pathname, { redirect: 'manual' })).headers.get('content-length')).toBe(String(file?.size))
  expect((await bySigning(pathname)).status).toBe(403)
  const answer = await bySigning(pathname, { authorization })
  expect(answer.status).toBe(302)
  const signed = await fetch(answer.headers.get('location') ?? '')
  expect(signed.headers.get('content-disposition')).toMatch(/^attachment; filename="A video-\d+p\.mp4"$/)
})

it('redirects all readers to signed URLs where the buckets are private', async () => {
  const { uuid, files } = await upload(1)
  expect(files[0]?.fileUrl.startsWith(s3.endpoint)).toBe(true)
  const view = (await (await bySigning(`/api/v1/videos/${uuid}`)).json()) as View
  const { pathname } = new URL(view.files[0]?.fileUrl ?? '')
  expect(pathname).toMatch(/^\/static\/web-videos\//)
  const answer = await bySigning(pathname)
  expect(answer.status).toBe(302)
  const range = await fetch(answer.headers.get('location') ?? '', { headers: { range: 'bytes=0-3' } })
  expect(range.status).toBe(206)
  const page = await bySigning(`/videos/watch/${uuid}`)
  expect(page.headers.get('content-security-policy')).toContain(s3.endpoint)
})

it('names an unusable bucket in one line at the start', async () => {
  await eventually(async () => expect(lines.filter((line) => line.includes('nowhere'))).toHaveLength(1))
  expect(lines.join('')).toMatch(/object storage cannot be used: bucket nowhere at http.*NoSuchBucket/)
  expect(lines.join('')).not.toContain('S3RVER"')
})

it('answers 503 with Retry-After while object storage fails, and loses nothing', async () => {
  const { files } = await upload(3)
  const path = files[0]?.fileUrl ?? ''
  const video = await upload(1)
  s3.break(() => true)
  const answer = await root.raw(path)
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '30'])
  expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/)
  await root.send('DELETE', `/api/v1/videos/${video.uuid}`)
  const job = async () =>
    (await pool.query("select state, failures, error from job where type = 'video-removal' order by id desc limit 1")).rows[0]
  await eventually(async () =>
    expect(await job()).toMatchObject({
      state: 'delayed',
      failures: 0,
      error: expect.stringContaining('Object storage'),
    }),
  )
  s3.break(undefined)
  expect((await root.raw(path)).status).toBe(200)
  await pool.query("update job set due_at = now() where type = 'video-removal'")
  const name = video.files[0]?.fileUrl.split('/').at(-1)
  await eventually(async () => expect(await s3.keys('web-videos')).not.toContain(name))
})
