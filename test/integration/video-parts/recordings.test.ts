// Recorded exchanges about captions, chapters and storyboards, in their order: every response is the same.

import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { z } from 'zod'
import { type Client, login } from '../../../scripts/demo/client.ts'
import { media } from '../../support/media.ts'
import { startTestNode, type TestNode } from '../../support/node.ts'

const part = z.object({
  name: z.string(),
  value: z.string().optional(),
  file: z.string().optional(),
  filename: z.string().optional(),
  type: z.string().optional(),
})
const exchanges = z
  .array(
    z.object({
      name: z.string(),
      as: z.enum(['user', 'user2', 'anonymous']),
      request: z.object({
        method: z.string(),
        path: z.string(),
        body: z.unknown().optional(),
        multipart: z.array(part).optional(),
      }),
      response: z.object({ status: z.int(), body: z.unknown() }),
      capture: z.record(z.string(), z.string()).optional(),
    }),
  )
  .parse(JSON.parse(readFileSync(new URL('../../fixtures/recordings/captions-chapters.json', import.meta.url), 'utf8')))

/** Errors of the observed server. */
const DECIDED: Record<string, number> = { 'chapters put: no title': 400 }

const FILES: Record<string, string> = {
  'caption.srt': '1\n00:00:00,500 --> 00:00:01,500\nFirst line\n\n2\n00:00:01,600 --> 00:00:02,800\nSecond line\n',
  'caption.vtt': 'WEBVTT\n\n00:00:00.500 --> 00:00:01.500\nFirst line in VTT\n',
  'bad.txt': 'not a video\n',
}
const TYPES: Record<string, string> = { '.txt': 'text/plain', '.vtt': 'text/vtt', '.srt': 'application/x-subrip' }
const DESCRIPTION = 'start\n00:00 chapter 1\n00:01 chapter 2\n00:02 - chapter 3'

let node: TestNode
const clients = new Map<string, Client>()
const values = new Map<string, string>()

beforeAll(async () => {
  node = await startTestNode({ config: { transcoding: { enabled: false } } })
  const root = await login(node.base, node.username, node.password)
  for (const username of ['user', 'user2']) {
    const email = `${username}@example.org`
    const password = 'password1'
    await root.send('POST', '/api/v1/users', {
      username,
      email,
      password,
      role: 2,
      videoQuota: -1,
      videoQuotaDaily: -1,
    })
    clients.set(username, await login(node.base, username, password))
  }
  const bytes = await readFile(await media('small.mp4'))
  const user = clientOf('user')
  const me = await user.get<{ videoChannels: { id: number }[] }>('/api/v1/users/me')
  const videos = { v1: { privacy: '1' }, vp: { privacy: '3' }, vd: { privacy: '1', description: DESCRIPTION } }
  for (const [name, fields] of Object.entries(videos)) {
    const form = new FormData()
    const all = { channelId: String(me.videoChannels[0]?.id), name: `video ${name}`, ...fields }
    for (const [field, value] of Object.entries(all)) form.set(field, value)
    form.set('videofile', new File([new Uint8Array(bytes)], 'small.mp4', { type: 'video/mp4' }))
    const made = await user.send<{ video: { uuid: string } }>('POST', '/api/v1/videos/upload', form)
    values.set(name, made.video.uuid)
  }
})
afterAll(() => node?.stop())

function clientOf(name: string): Client {
  const client = clients.get(name)
  if (!client) throw new Error(`Nobody is called ${name}.`)
  return client
}

const filled = (text: string): string => text.replace(/\{\{([^}]+)\}\}/g, (_, name: string) => values.get(name) ?? '?')

function contentOf({ body, multipart }: (typeof exchanges)[number]['request']): RequestInit {
  if (!multipart) {
    if (body === undefined) return {}
    return { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  }
  const form = new FormData()
  for (const { name, value, file, filename, type } of multipart) {
    if (file === undefined) form.set(name, value ?? '')
    else form.set(name, new File([FILES[file] ?? ''], filename ?? file, { type: type ?? TYPES[extname(file)] ?? '' }))
  }
  return { body: form }
}

const masked = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(masked)
  if (value !== null && typeof value === 'object') {
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, name === 'captionPath' ? 'a path' : masked(item)]))
  }
  if (typeof value !== 'string') return value
  if (/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value)) return '{{date}}'
  return value.replaceAll(values.get('v1') ?? '?', '{{uuid:1}}')
}

/** A problem body without its title, which the recorded one lacks, and without the wording of single parameters. */
function refusal(body: unknown) {
  const { title: _, 'invalid-params': params, ...members } = z.looseObject({}).parse(masked(body))
  const named = z.record(z.string(), z.looseObject({})).optional().parse(params)
  return { ...members, params: named && Object.entries(named).map(([name, one]) => [name, { ...one, msg: '' }]) }
}

it.each(exchanges)('$name', async ({ name, as, request, response, capture = {} }) => {
  const init = { method: request.method, ...contentOf(request) }
  const path = filled(request.path)
  const answer = await (as === 'anonymous' ? fetch(new URL(path, node.base), init) : clientOf(as).raw(path, init))
  const text = await answer.text()
  expect([answer.status, text]).toEqual([DECIDED[name] ?? response.status, text])
  if (answer.status === 204) return expect(text).toBe('')
  if (path.startsWith('/lazy-static/')) return expect(text).toBe(response.body)
  const found: unknown = JSON.parse(text)
  for (const [variable, place] of Object.entries(capture)) {
    const value = place.split('.').reduce<unknown>((at, step) => Reflect.get(Object(at), step), found)
    values.set(variable, String(value))
  }
  if (answer.status === 200) expect(masked(found)).toEqual(masked(response.body))
  else if (DECIDED[name] === undefined) expect(refusal(found)).toEqual(refusal(response.body))
})
