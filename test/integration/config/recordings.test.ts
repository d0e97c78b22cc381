// The configuration over REST, by the recorded exchanges in their order.

import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { z } from 'zod'
import { merge, type Values } from '../../../src/config/layers.ts'
import { startTestNode, type TestNode } from '../../support/node.ts'
import { addPeople, type Who } from './users.ts'

const exchange = z.object({
  name: z.string(),
  as: z.enum(['anonymous', 'user', 'moderator', 'admin']),
  partial: z.boolean().optional(),
  request: z.object({ method: z.string(), path: z.string(), body: z.record(z.string(), z.unknown()).optional() }),
  response: z.object({ status: z.int(), body: z.unknown().optional() }),
})
const file = new URL('../../fixtures/recordings/config.json', import.meta.url)
const exchanges = z.array(exchange).parse(JSON.parse(readFileSync(file, 'utf8')))

let node: TestNode
let headersOf: Record<Who, Record<string, string>>
/** The first answer of `/config/custom`, which later bodies modify. */
let custom: Values = {}

beforeAll(async () => {
  node = await startTestNode({
    config: {
      smtp: { hostname: '127.0.0.1' },
      signup: { enabled: true, requires_approval: false },
      import: { videos: { http: { enabled: true } } },
    },
  })
  headersOf = await addPeople(node, 'config')
})
afterAll(async () => {
  await node?.stop()
})

const fill = (value: unknown): unknown => JSON.parse(JSON.stringify(value).replaceAll('{{admin:email}}', 'admin@example.com'))

function bodyOf(sent: Record<string, unknown>): unknown {
  const patch = z.tuple([z.literal('json:config'), z.record(z.string(), z.unknown())]).safeParse(sent.$merge)
  return fill(patch.success ? merge(custom, patch.data[1]) : sent)
}

/** Values differ between the two configurations; names and types do not, and refusals are compared completely. */
function typesOf(body: unknown): unknown {
  if (Array.isArray(body)) return 'a list'
  if (typeof body !== 'object' || body === null) return body === null ? null : typeof body
  return Object.fromEntries(Object.entries(body).map(([name, value]) => [name, typesOf(value)]))
}

function refusal(body: unknown): unknown {
  const { type, status, docs, instance, code, ...rest } = z.looseObject({ status: z.int() }).parse(body)
  const params = z
    .record(z.string(), z.looseObject({ msg: z.string() }))
    .optional()
    .parse(rest['invalid-params'])
  const entries = Object.entries(params ?? {}).map(([name, param]) => [name, { ...param, msg: 'in words' }])
  return { type, status, docs, instance, code, names: Object.keys(params ?? {}), params: Object.fromEntries(entries) }
}

it.each(exchanges.map((one) => [one.name, one] as const))('%s', async (_name, { as, partial, request, response }) => {
  const answer = await fetch(`${node.base}${request.path}`, {
    method: request.method,
    headers: { ...headersOf[as], ...(request.body ? { 'content-type': 'application/json' } : {}) },
    ...(request.body ? { body: JSON.stringify(bodyOf(request.body)) } : {}),
  })
  const body: unknown = await answer.json()
  expect({ status: answer.status, body }).toMatchObject({ status: response.status })
  if (request.path === '/api/v1/config/custom' && request.method === 'GET' && answer.ok) {
    custom = z.record(z.string(), z.unknown()).parse(body)
  }
  if (!answer.ok) expect(refusal(body)).toEqual(refusal(fill(response.body)))
  else if (partial) expect(typesOf(body)).toMatchObject(z.looseObject({}).parse(typesOf(response.body)))
  else expect(typesOf(body)).toEqual(typesOf(response.body))
})

it('reads what was written', async () => {
  const update = exchanges.find((one) => one.name === 'update')
  const put = await fetch(`${node.base}/api/v1/config/custom`, {
    method: 'PUT',
    headers: { ...headersOf.admin, 'content-type': 'application/json' },
    body: JSON.stringify(bodyOf(update?.request.body ?? {})),
  })
  const sent = z.looseObject({ instance: z.looseObject({}) }).parse(bodyOf(update?.request.body ?? {}))
  expect(await put.json()).toEqual(sent)
  const about = await fetch(`${node.base}/api/v1/config/about`)
  expect(await about.json()).toMatchObject({ instance: { name: 'Recorded instance', languages: ['en', 'fr'] } })
})
