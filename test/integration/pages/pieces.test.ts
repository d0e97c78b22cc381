// Uploads in pieces from a page: what the script of the page sends, and what it relies on.

import { readFile } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type Browser, makeBrowser, partIn } from '../../support/browser.ts'
import { media } from '../../support/media.ts'
import { startTestNode, type TestNode } from '../../support/node.ts'
import { run } from '../../support/postgres.ts'

const PIECE = 8 * 1024 * 1024
const PATH = '/videos/upload'

let node: TestNode
let agent: Agent
let maker: Browser
let token: string
let channelId: string
beforeAll(async () => {
  node = await startTestNode({ config: { transcoding: { enabled: false } } })
  agent = new Agent({ keepAlive: true, maxSockets: 1 })
  maker = makeBrowser(node.base)
  await maker.login(node.username, node.password)
  const { html } = await maker.open('/videos/upload')
  token = /name="token" value="(\w+)"/.exec(html)?.[1] ?? ''
  channelId = /<select id="upload-channelId".*?<option value="(\d+)"/s.exec(html)?.[1] ?? ''
})
afterAll(async () => {
  agent?.destroy()
  await node?.stop()
})

/** Over the only connection. */
function send(method: string, query: string, headers: Record<string, string | number>, body: Buffer | string = '') {
  const cookie = [...maker.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const path = method === 'POST' ? PATH : `${PATH}/pieces`
  const sent = { ...headers, cookie, origin: node.base, 'x-form-token': token, 'content-length': Buffer.byteLength(body) }
  return new Promise<{ status: number | undefined; range: string | undefined; id: string; isReused: boolean }>((resolve, reject) => {
    const asked = request(`${node.base}${path}${query}`, { method, headers: sent, agent }, (answer) => {
      const { statusCode: status, headers } = answer
      const id = String(headers['x-upload-id'] ?? '')
      answer.resume()
      // When all of the body is sent as well.
      asked.once('close', () => resolve({ status, range: headers.range, id, isReused: asked.reusedSocket }))
    })
    asked.once('error', reject).end(body)
  })
}

const open = (details: Record<string, string>, size = 3 * PIECE) =>
  send(
    'POST',
    '',
    { 'content-type': 'application/x-www-form-urlencoded', 'x-upload-content-length': size, 'x-upload-content-type': 'video/mp4' },
    new URLSearchParams({
      token,
      part: 'upload',
      fileId: 'a',
      filename: 'take.mp4',
      name: 'The take',
      channelId,
      privacy: '1',
      ...details,
    }).toString(),
  )

const put = (id: string, from: number, bytes: Buffer, size = 3 * PIECE) =>
  send('PUT', `?upload_id=${id}`, { 'content-range': `bytes ${from}-${from + bytes.length - 1}/${size}` }, bytes)

it('a refused upload without the script keeps what was typed', async () => {
  const form = partIn((await maker.open('/videos/upload')).html, 'upload')
  const fields = {
    ...form.fields,
    name: 'Ein "Käfer" & <b>',
    description: 'first line\r\nlast filename line',
    privacy: '3',
    language: 'fr',
    channelId,
  }
  const file = { field: 'videofile', name: 'notes.txt', type: 'text/plain', bytes: Buffer.from('no video') }
  const refused = await maker.sendFile({ ...form, fields }, file)
  expect(refused.status).toBe(415)
  expect(refused.html).toMatch(/role="alert">This file is not supported/)
  expect(partIn(refused.html, 'upload').fields).toMatchObject({ name: fields.name, description: fields.description })
  expect(refused.html).toMatch(/<option value="3" selected>/)
  expect(refused.html).toMatch(/<option value="fr" selected>/)
})

it('an upload without the script takes all that was typed, and its chapters', async () => {
  const { fields, ...form } = partIn((await maker.open('/videos/upload')).html, 'upload')
  const typed = {
    name: 'All by form',
    channelId,
    privacy: '5',
    videoPasswords: 'first secret\r\nsecond secret',
    tags: 'bird, lake',
    language: 'fr',
    category: '1',
    licence: '2',
    support: 'By boat',
    commentsPolicy: '3',
    'scheduleUpdate.updateAt': '2127-03-01T10:30',
    originallyPublishedAt: '2020-02-03T04:05',
    chapters: '0:00 Standing\r\n0:01 Flying',
  }
  const { downloadEnabled: _unchecked, ...rest } = fields
  const bytes = await readFile(await media('small.mp4'))
  const file = { field: 'videofile', name: 'small.mp4', type: 'video/mp4', bytes }
  const refused = await maker.sendFile({ ...form, fields: { ...rest, ...typed, chapters: 'nonsense', tags: 'a' } }, file)
  expect(refused.status).toBe(400)
  for (const name of ['chapters', 'tags']) expect(refused.html).toMatch(new RegExp(`id="upload-${name}"[^>]* aria-invalid="true"`))
  expect(refused.html).toMatch(/<details open>/)
  const done = await maker.sendFile({ ...form, fields: { ...rest, ...typed } }, file)
  expect([done.status, done.path]).toEqual([200, expect.stringMatching(/^\/my-library\/videos\/\w+$/)])
  const query = <R extends object>(sql: string) => run<R>(node.databaseUrl, sql)
  const [video] = await query<{ id: number }>(`select id, privacy, tags, language, category, licence, support, comments_policy,
    download_enabled, originally_published_at from video where name = 'All by form'`)
  const { id, ...details } = video ?? { id: 0 }
  expect(details).toEqual({
    privacy: 5,
    tags: ['bird', 'lake'],
    language: 'fr',
    category: 1,
    licence: 2,
    support: 'By boat',
    comments_policy: 3,
    download_enabled: false,
    originally_published_at: new Date('2020-02-03T04:05:00Z'),
  })
  expect(await query(`select update_at, privacy from video_schedule where video_id = ${id}`)).toEqual([
    { update_at: new Date('2127-03-01T10:30:00Z'), privacy: 1 },
  ])
  expect(await query(`select password from video_password where video_id = ${id} order by id`)).toHaveLength(2)
  expect(await query(`select timecode, title from video_chapter where video_id = ${id} order by timecode`)).toEqual([
    { timecode: 0, title: 'Standing' },
    { timecode: 1, title: 'Flying' },
  ])
}, 60_000)

it('an upload without the script keeps the chapters of its description if no others were typed', async () => {
  const form = partIn((await maker.open(PATH)).html, 'upload')
  const fields = { ...form.fields, name: 'Described', channelId, description: '0:00 Standing\r\n0:01 Flying\r\n0:02 Landing' }
  const file = { field: 'videofile', name: 'small.mp4', type: 'video/mp4', bytes: await readFile(await media('small.mp4')) }
  expect((await maker.sendFile({ ...form, fields }, file)).path).toMatch(/^\/my-library\/videos\/\w+$/)
  const titles = "select title from video_chapter c join video v on v.id = c.video_id where v.name = 'Described' order by timecode"
  expect(await run(node.databaseUrl, titles)).toEqual([{ title: 'Standing' }, { title: 'Flying' }, { title: 'Landing' }])
}, 60_000)

describe('an upload in pieces', () => {
  it('goes on over the connection of a piece that was sent twice', async () => {
    const { id } = await open({})
    const piece = Buffer.alloc(PIECE, 'v')
    expect(await put(id, 0, piece)).toMatchObject({ status: 308, range: `bytes=0-${PIECE - 1}` })
    expect(await put(id, 0, piece)).toMatchObject({ status: 308, range: `bytes=0-${PIECE - 1}`, isReused: true })
    expect(await put(id, PIECE, piece)).toMatchObject({ status: 308, range: `bytes=0-${2 * PIECE - 1}`, isReused: true })
  }, 60_000)
})
