// Recorded exchanges about the own account and pictures of the instance, in their order. Responses are identical, except where a decision
// says otherwise.

import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { z } from 'zod'
import { type Client, login } from '../../../scripts/demo/client.ts'
import { media } from '../../support/media.ts'
import { startTestNode, type TestNode } from '../../support/node.ts'
import { addUser, noise, openDatabase } from './users.ts'

const exchange = z.object({
  name: z.string(),
  as: z.enum(['anonymous', 'user', 'moderator', 'admin']),
  request: z.object({
    method: z.string(),
    path: z.string(),
    query: z.record(z.string(), z.unknown()).optional(),
    body: z.record(z.string(), z.unknown()).optional(),
    multipart: z
      .array(
        z.object({
          name: z.string(),
          value: z.string().optional(),
          file: z.string().optional(),
          filename: z.string().optional(),
        }),
      )
      .optional(),
  }),
  response: z.object({ status: z.int(), body: z.unknown().optional() }),
  partial: z.boolean().optional(),
})
const file = new URL('../../fixtures/recordings/me.json', import.meta.url)
const exchanges = z.array(exchange).parse(JSON.parse(readFileSync(file, 'utf8')))

const files: Record<string, () => Promise<Uint8Array>> = {
  'avatar.png': () => noise(100, 100).png().toBuffer(),
  'avatar2.jpg': () => noise(200, 100).jpeg().toBuffer(),
  'banner.jpg': () => noise(400, 300).jpeg().toBuffer(),
  'big.png': () => noise(300, 300).png().toBuffer(),
  'small.mp4': async () => await readFile(await media('small.mp4')),
  'bad.txt': async () => Buffer.from('no picture\n'),
}

/** Decided differences: the invalid field, or the status alone. */
const DECIDED: Record<string, { status: number; field?: string }> = {
  'avatar pick: too big': { status: 413 },
  'avatar pick: unexpected file field': { status: 400, field: 'other' },
  'banner: pick too large': { status: 413 },
  'banner: pick wrong content with image name': { status: 400, field: 'bannerfile' },
  'avatar: pick too large': { status: 413 },
  'avatar: pick wrong content with image name': { status: 400, field: 'avatarfile' },
  'my comments': { status: 200 },
  'my comments: filters': { status: 200 },
  'my comments: bad isHeldForReview': { status: 400, field: 'isHeldForReview' },
}

let node: TestNode
const clients: Partial<Record<z.infer<typeof exchange>['as'], Client>> = {}
const values = new Map<string, string>()

beforeAll(async () => {
  node = await startTestNode({
    config: {
      vireo: { uploads: { max_image_size: '100KB' } },
      instance: { default_nsfw_policy: 'display' },
      transcoding: { enabled: false },
    },
  })
  const { query, close } = await openDatabase(node)
  const user = await addUser(node, query, { username: 'me_user' })
  const moderator = await addUser(node, query, { username: 'me_moderator', role: 1 })
  await close()
  Object.assign(clients, { user: user.client, moderator: moderator.client })
  clients.admin = await login(node.base, node.username, node.password)
  const { email } = await clients.admin.get<{ email: string }>('/api/v1/users/me')
  values.set('admin:email', email).set('base', node.base).set('host', new URL(node.base).host)
  values.set('id:chan', String(user.channelId))
  for (const [variable, value] of [
    ['client_id', 'client_id'],
    ['client_secret', 'client_secret'],
  ] as const) {
    const client: Record<string, string> = await (await fetch(`${node.base}/api/v1/oauth-clients/local`)).json()
    values.set(variable, client[value] ?? '')
  }
})
afterAll(() => node?.stop())

const filled = (text: string): string => text.replace(/\{\{([^}]+)\}\}/g, (whole, name: string) => values.get(name) ?? whole)

async function formOf(parts: NonNullable<z.infer<typeof exchange>['request']['multipart']>): Promise<FormData> {
  const form = new FormData()
  for (const part of parts) {
    const bytes = part.file === undefined ? undefined : await files[part.file]?.()
    if (bytes) form.set(part.name, new Blob([Uint8Array.from(bytes)]), part.filename ?? part.file)
    else form.set(part.name, filled(part.value ?? ''))
  }
  return form
}

async function bodyOf({ path, body, multipart }: z.infer<typeof exchange>['request']): Promise<RequestInit> {
  if (multipart) return { body: await formOf(multipart) }
  if (!body) return {}
  const sent: Record<string, string> = JSON.parse(filled(JSON.stringify(body)))
  if (path.endsWith('/token')) return { body: new URLSearchParams(sent) }
  return { body: JSON.stringify(sent), headers: { 'content-type': 'application/json' } }
}

it.each(exchanges)('$name', async ({ name, as, request, response, partial }) => {
  const query = new URLSearchParams()
  for (const [key, value] of Object.entries(request.query ?? {})) query.set(key, String(value))
  const path = query.size > 0 ? `${request.path}?${query}` : request.path
  const init = { method: request.method, ...(await bodyOf(request)) }
  const client = clients[as]
  const answer = client ? await client.raw(path, init) : await fetch(new URL(path, node.base), init)
  const text = await answer.text()
  const decided = DECIDED[name]
  expect({ status: answer.status, text }).toMatchObject({ status: decided?.status ?? response.status })
  if (decided) {
    if (decided.status === 413) expect(answer.headers.get('x-file-maximum-size')).toBe('100k')
    if (decided.field) expect(Object.keys(JSON.parse(text)['invalid-params'])).toContain(decided.field)
    return
  }
  if (response.body === undefined) return expect(text).toBe('')
  const got = comparable(JSON.parse(text))
  const expected = comparable(JSON.parse(filled(JSON.stringify(response.body))))
  if (partial) expect(got).toMatchObject(expected as object)
  else expect(got).toEqual(expected)
})

/** Identifiers, dates, tokens and wording may differ; every refusal has a title. */
function comparable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(comparable)
  if (typeof value === 'string') {
    return value
      .replace(/\?videoFileToken=[\w.-]+$/, '')
      .replace(/\{\{(?:uuid|shortUUID):\d+\}\}|[0-9a-f]{8}-[0-9a-f-]{27}/g, '<id>')
      .replace(/\{\{date\}\}|\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<date>')
  }
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([key]) => !FREE.has(key))
  const isProblem = 'status' in value && 'type' in value && !('state' in value)
  return Object.fromEntries([
    ...entries.map(([key, one]) => [key, comparable(one)]),
    ...(isProblem ? [['title', 'any'], ...saidInWords(value)] : []),
  ])
}
/** Only the sentence that names invalid parameters is fixed. */
function saidInWords(problem: object): [string, string][] {
  const isFixed = 'detail' in problem && String(problem.detail).startsWith('Incorrect request parameters')
  return isFixed
    ? []
    : [
        ['detail', 'any'],
        ['error', 'any'],
      ]
}

const FREE = new Set([
  'id',
  'userId',
  'msg',
  'access_token',
  'refresh_token',
  'shortUUID',
  'aspectRatio',
  'duration',
  'refresh_token_expires_in',
  'expires_in',
])
