// Uploads in pieces from a page: what the script of the page sends, and what it relies on.

import { Agent, request } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type Browser, makeBrowser, partIn } from '../../support/browser.ts'
import { startTestNode, type TestNode } from '../../support/node.ts'

const PIECE = 8 * 1024 * 1024
const PATH = '/videos/upload/pieces'

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
  const sent = { ...headers, cookie, origin: node.base, 'x-form-token': token, 'content-length': Buffer.byteLength(body) }
  return new Promise<{ status: number | undefined; range: string | undefined; id: string; isReused: boolean }>((resolve, reject) => {
    const asked = request(`${node.base}${PATH}${query}`, { method, headers: sent, agent }, (answer) => {
      const { statusCode: status, headers } = answer
      const id = String(headers['x-upload-id'] ?? '')
      answer.resume()
      // When all of the body is sent as well.
      asked.once('close', () => resolve({ status, range: headers.range, id, isReused: asked.reusedSocket }))
    })
    asked.once('error', reject).end(body)
  })
}

const open = (details: object, size = 3 * PIECE) =>
  send(
    'POST',
    '?uploadType=resumable',
    { 'content-type': 'application/json', 'x-upload-content-length': size, 'x-upload-content-type': 'video/mp4' },
    JSON.stringify({ channelId, filename: 'take.mp4', name: 'The take', privacy: 1, ...details }),
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

describe('an upload in pieces', () => {
  it('goes on over the connection of a piece that was sent twice', async () => {
    const { id } = await open({})
    const piece = Buffer.alloc(PIECE, 'v')
    expect(await put(id, 0, piece)).toMatchObject({ status: 308, range: `bytes=0-${PIECE - 1}` })
    expect(await put(id, 0, piece)).toMatchObject({ status: 308, range: `bytes=0-${PIECE - 1}`, isReused: true })
    expect(await put(id, PIECE, piece)).toMatchObject({ status: 308, range: `bytes=0-${2 * PIECE - 1}`, isReused: true })
  }, 60_000)
})
