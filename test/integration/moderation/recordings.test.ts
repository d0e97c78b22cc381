// Recorded exchanges about reports and blocks, played in their order against a whole server.

import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { z } from 'zod'
import { login } from '../../../scripts/demo/client.ts'
import { media } from '../../support/media.ts'
import { startTestNode, type TestNode } from '../../support/node.ts'

const exchange = z.object({
  name: z.string(),
  as: z.string(),
  request: z.object({
    method: z.string(),
    path: z.string(),
    query: z.record(z.string(), z.unknown()).optional(),
    body: z.record(z.string(), z.unknown()).optional(),
    multipart: z.array(z.object({ name: z.string(), value: z.string().optional() })).optional(),
  }),
  response: z.object({ status: z.int(), body: z.unknown().optional() }),
  capture: z.record(z.string(), z.string()).optional(),
  session: z.string().optional(),
  partial: z.boolean().optional(),
})
type Exchange = z.infer<typeof exchange>

const recorded = (area: string): Exchange[] =>
  z.array(exchange).parse(JSON.parse(readFileSync(new URL(`../../fixtures/recordings/${area}.json`, import.meta.url), 'utf8')))

describe.each(['abuses', 'blocklists'])('the recorded exchanges of %s', (area) => {
  let node: TestNode
  const tokens = new Map<string, string>()
  const values = new Map<string, unknown>()

  beforeAll(async () => {
    node = await startTestNode({ config: { transcoding: { enabled: false } } })
    tokens.set('admin', (await login(node.base, node.username, node.password)).authorization)
    values.set('host', new URL(node.base).host)
    values.set('admin:username', node.username)
  })
  afterAll(() => node?.stop())

  it.each(recorded(area).map((one) => [one.name, one] as const))('%s', async (_name, one) => {
    const { request, response } = one
    if (one.session) {
      const { username, password } = z.object({ username: z.string(), password: z.string() }).parse(request.body)
      tokens.set(one.session, (await login(node.base, username, password)).authorization)
      return
    }
    const token = tokens.get(one.as)
    const answer = await fetch(addressOf(request), {
      method: request.method,
      headers: {
        ...(token ? { authorization: token } : {}),
        ...(request.body ? { 'content-type': 'application/json' } : {}),
      },
      ...(request.body ? { body: JSON.stringify(filled(request.body)) } : {}),
      ...(request.multipart ? { body: await formOf(request.multipart) } : {}),
    })
    const text = await answer.text()
    expect({ status: answer.status, text }).toMatchObject({ status: response.status })
    const found: unknown = text === '' ? undefined : JSON.parse(text)
    for (const [name, path] of Object.entries(one.capture ?? {})) values.set(name, at(found, path))
    if (answer.status >= 400) return expect(paramsOf(found)).toEqual(paramsOf(response.body))
    if (one.partial || answer.status === 204) return
    if (/blocklist|abuses/.test(request.path)) expect(comparable(found)).toEqual(comparable(filled(response.body)))
  })

  function addressOf({ path, query = {} }: Exchange['request']): URL {
    const url = new URL(String(filled(path)), node.base)
    for (const [name, value] of Object.entries(query)) {
      for (const one of [filled(value)].flat()) url.searchParams.append(name, String(one))
    }
    return url
  }

  async function formOf(parts: NonNullable<Exchange['request']['multipart']>): Promise<FormData> {
    const form = new FormData()
    for (const { name, value } of parts) {
      if (value !== undefined) form.set(name, String(filled(value)))
      else form.set(name, new File([new Uint8Array(await readFile(await media('small.mp4')))], 'small.mp4'))
    }
    return form
  }

  function filled(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(filled)
    if (typeof value === 'object' && value !== null) {
      return Object.fromEntries(Object.entries(value).map(([key, inner]) => [String(filled(key)), filled(inner)]))
    }
    if (typeof value !== 'string') return value
    const whole = /^\{\{([^{}]+)\}\}$/.exec(value)?.[1]
    if (whole !== undefined && values.has(whole)) return values.get(whole)
    return value.replace(/\{\{([^{}]+)\}\}/g, (place, name: string) => String(values.get(name) ?? place))
  }
})

const at = (value: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((found, key) => (Array.isArray(found) ? found[Number(key)] : z.looseObject({}).parse(found)[key]), value)

const paramsOf = (body: unknown): string[] =>
  Object.keys(z.looseObject({ 'invalid-params': z.record(z.string(), z.unknown()).default({}) }).parse(body)['invalid-params'])

/** Row ids and captured placeholders may differ, and so may texts of the configuration. */
function comparable(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => comparable(item))
  if (FREE.has(name)) return value === null ? null : typeof value
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, comparable(inner, key)]))
}
const FREE = new Set('id userId threadId uuid url host createdAt updatedAt thumbnailPath displayName description'.split(' '))
