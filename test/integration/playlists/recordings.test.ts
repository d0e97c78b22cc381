// Playlists over REST, by the recorded exchanges in their order, including the creation of users.

import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { z } from 'zod'
import { login } from '../../../scripts/demo/client.ts'
import { media } from '../../support/media.ts'
import { startTestNode, type TestNode } from '../../support/node.ts'
import { plain } from '../me/users.ts'

const part = z.object({ name: z.string(), value: z.string().optional(), file: z.string().optional() })
const exchange = z.object({
  name: z.string(),
  as: z.string(),
  partial: z.boolean().optional(),
  /** The user whose session the response opens. */
  session: z.string().optional(),
  /** Paths of captured values in the response, by name. */
  capture: z.record(z.string(), z.string()).optional(),
  request: z.object({
    method: z.string(),
    path: z.string(),
    query: z.record(z.string(), z.unknown()).optional(),
    contentType: z.string().optional(),
    body: z.unknown().optional(),
    multipart: z.array(part).optional(),
  }),
  response: z.object({ status: z.int(), body: z.unknown().optional() }),
})
type Exchange = z.infer<typeof exchange>
const file = new URL('../../fixtures/recordings/playlists.json', import.meta.url)
const exchanges = z.array(exchange).parse(JSON.parse(readFileSync(file, 'utf8')))

/** Decided differences, with their reasons. */
const DIFFERENT: Record<string, { status: number; why: string }> = {
  'create: JSON body': { status: 200, why: 'it fails there by accident' },
  'update: JSON': { status: 204, why: 'it fails there by accident' },
  'create: channel of another user': { status: 403, why: 'a channel is its owner’s' },
}
/** Lists that contain the decided difference. */
const WITH_THAT_ONE = ['list', 'list: type', 'list of account']

let node: TestNode
const tokens: Record<string, string> = {}
const values: Record<string, string> = {}

beforeAll(async () => {
  node = await startTestNode({ config: { transcoding: { enabled: false } } })
  tokens.admin = (await login(node.base, node.username, node.password)).authorization
  const client = z
    .object({ client_id: z.string(), client_secret: z.string() })
    .parse(await (await fetch(`${node.base}/api/v1/oauth-clients/local`)).json())
  Object.assign(values, client, { base: node.base, host: new URL(node.base).host })
})
afterAll(async () => {
  await node?.stop()
})

/** Fills in captured values; a text that is only an id is a number. */
function filled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(filled)
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, filled(one)]))
  }
  return typeof value === 'string' ? fill(value) : value
}
const fill = (text: string) => text.replace(/\{\{([^}]+)\}\}/g, (whole, name: string) => values[name] ?? whole)

async function bodyOf({ request }: Exchange): Promise<{ body?: FormData | string; type?: string }> {
  if (request.multipart) {
    const form = new FormData()
    for (const { name, value, file: fileName } of request.multipart) {
      if (fileName === undefined) form.set(name, fill(value ?? ''))
      else form.set(name, new Blob([Uint8Array.from(await bytesOf(fileName))]), fileName)
    }
    return { body: form }
  }
  if (request.body === undefined) return {}
  const body = filled(request.body)
  if (request.contentType === 'application/x-www-form-urlencoded') {
    return { body: new URLSearchParams(body as Record<string, string>).toString(), type: request.contentType }
  }
  return { body: JSON.stringify(body), type: 'application/json' }
}

async function bytesOf(name: string): Promise<Uint8Array> {
  if (name.endsWith('.mp4')) return await readFile(await media('small.mp4'))
  return name.endsWith('.txt') ? Buffer.from('no picture') : await plain(64, 64).jpeg().toBuffer()
}

async function send(one: Exchange): Promise<{ status: number; got: unknown }> {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(one.request.query ?? {})) {
    for (const item of Array.isArray(value) ? value : [value]) query.append(name, String(filled(item)))
  }
  const { body, type } = await bodyOf(one)
  const token = tokens[one.as]
  const response = await fetch(`${node.base}${fill(one.request.path)}${query.size > 0 ? `?${query}` : ''}`, {
    method: one.request.method,
    headers: { ...(token ? { authorization: token } : {}), ...(type ? { 'content-type': type } : {}) },
    ...(body === undefined ? {} : { body }),
  })
  const text = await response.text()
  return { status: response.status, got: text === '' ? undefined : JSON.parse(text) }
}

const at = (value: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((part, step) => Reflect.get(Object(part), step), value)

/** Ids, dates, generated names and wording may differ; everything else must not. */
function comparable(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) return value.map((one) => comparable(one))
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [/^\d+$/.test(key) ? 'a number' : key, comparable(one, key)]))
  }
  if (typeof value === 'number' && /(?:^id|Id)$/.test(name)) return 'an id'
  // It is a different video.
  if (name === 'duration') return typeof value
  if (typeof value !== 'string') return value
  if (FREE.has(name)) return 'free'
  return (
    fill(value)
      .replace(/\{\{[^}]+\}\}|[0-9a-f]{8}-[0-9a-f-]{27}|\d{4}-\d\d-\d\dT[\d:.]+Z|\b[1-9A-HJ-NP-Za-km-z]{22}\b/g, '*')
      // Browsers load pictures without credentials: those of private videos have a token here.
      .replace(/(\.jpg)\?videoFileToken=[\w.-]+$/, '$1')
      .replace(/playlist-\*|\*(?=\.jpg)/, '*')
      .replace(/video-playlists\/\d+/, 'video-playlists/*')
  )
}
const FREE = new Set(['title', 'msg', 'createdAt', 'updatedAt', 'access_token', 'refresh_token'])
/** The recorded refusals of a missing token have no title. */
const withTitle = (body: unknown) => (typeof body === 'object' && body !== null && 'status' in body ? { title: '', ...body } : body)

it.each(exchanges.map((one) => [one.name, one] as const))('%s', async (name, one) => {
  const { status, got } = await send(one)
  expect({ status, got }).toMatchObject({ status: DIFFERENT[name]?.status ?? one.response.status })
  for (const [captured, path] of Object.entries(one.capture ?? {})) values[captured] = String(at(got, path))
  if (one.session) tokens[one.session] = `Bearer ${at(got, 'access_token')}`
  if (DIFFERENT[name] || WITH_THAT_ONE.includes(name) || name.startsWith('setup:')) return
  const [expected, received] = [comparable(withTitle(one.response.body)), comparable(got)]
  if (one.partial) expect(received).toMatchObject(Object(expected))
  else expect(received).toEqual(expected)
})
