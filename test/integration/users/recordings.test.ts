// Recorded exchanges about users, in their order.

import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { z } from 'zod'
import { TEST_ORIGIN } from '../../support/builders.ts'
import { startUserServer, type UserServer } from './server.ts'

const exchange = z.object({
  name: z.string(),
  as: z.string(),
  request: z.object({
    method: z.enum(['GET', 'POST', 'PUT', 'DELETE']),
    path: z.string(),
    query: z.record(z.string(), z.coerce.string()).optional(),
    body: z.record(z.string(), z.unknown()).optional(),
  }),
  response: z.object({ status: z.int(), body: z.unknown() }),
  session: z.string().optional(),
  capture: z.record(z.string(), z.string()).optional(),
})
const file = new URL('../../fixtures/recordings/users.json', import.meta.url)
const exchanges = z.array(exchange).parse(JSON.parse(readFileSync(file, 'utf8')))

/** Decided differences (docs/compatibility.md), and their consequences. */
const STATUS: Record<string, number> = {
  'update: existing email': 409,
  'update: role of another user to administrator by moderator': 403,
  // The user did not become an administrator.
  'delete by moderator': 204,
}
/** Their rows depend on users of other areas, or on the differences above. */
const OTHER_ROWS = ['list', 'list: not blocked', 'list: bad blocked']

let server: UserServer
const tokens = new Map<string, string>()
const values = new Map<string, string>()

beforeAll(async () => {
  server = await startUserServer({ instance: { default_nsfw_policy: 'display' } })
  tokens.set('admin', await server.login('root', server.rootPassword))
})
afterAll(() => server.stop())

const filled = (text: string): string => text.replace(/\{\{([^}]+)\}\}/g, (_, name: string) => values.get(name) ?? '?')

it.each(exchanges.map((one) => [one.name, one] as const))('%s', async (name, { as, request, response, ...rest }) => {
  if (rest.session) {
    const { username, password } = z.object({ username: z.string(), password: z.string() }).parse(request.body)
    tokens.set(rest.session, await server.login(username, password))
    return
  }
  if (request.path === '/api/v1/users/token') {
    return await expect(server.login('users_u2', 'password1')).rejects.toThrow('400 access_denied')
  }
  const answer = await server.ask(request.method, filled(request.path), {
    token: tokens.get(as),
    ...(request.query ? { query: request.query } : {}),
    body: request.body,
  })
  expect({ status: answer.status, body: answer.body }).toMatchObject({ status: STATUS[name] ?? response.status })
  for (const variable of Object.keys(rest.capture ?? {})) {
    values.set(variable, String(z.object({ user: z.object({ id: z.int() }) }).parse(answer.body).user.id))
  }
  if (STATUS[name] || answer.status === 204) return
  if (answer.status >= 400) return expect(Object.keys(paramsOf(answer.body))).toEqual(Object.keys(paramsOf(response.body)))
  if (OTHER_ROWS.includes(name)) return expect(shapeOf(answer.body)).toEqual(shapeOf(response.body))
  if (Array.isArray(response.body)) return expect(answer.body).toEqual([...response.body].sort())
  expect(comparable(answer.body)).toEqual(comparable(response.body))
})

const paramsOf = (body: unknown): Record<string, unknown> =>
  z.object({ 'invalid-params': z.record(z.string(), z.unknown()).default({}) }).parse(body)['invalid-params']

/** The names of all members, of lists those of the first item. */
function shapeOf(body: unknown): unknown {
  if (Array.isArray(body)) return body.slice(0, 1).map(shapeOf)
  if (typeof body !== 'object' || body === null) return null
  return Object.fromEntries(Object.entries(body).map(([key, value]) => [key, shapeOf(value)]))
}

/** Row ids and dates may differ, and so may display names, which come from the configuration. */
function comparable(body: unknown): unknown {
  if (Array.isArray(body)) return body.map(comparable)
  if (typeof body === 'string') {
    const text = body.replaceAll(TEST_ORIGIN, '{{base}}').replaceAll(new URL(TEST_ORIGIN).host, '{{host}}')
    return /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text) ? '{{date}}' : text
  }
  if (typeof body !== 'object' || body === null) return body
  return Object.fromEntries(Object.entries(body).map(([key, value]) => [key, FREE.has(key) ? typeof value : comparable(value)]))
}
const FREE = new Set(['id', 'userId', 'displayName'])
