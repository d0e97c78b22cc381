// Replays recorded exchanges of sessions in order, and compares each response with the recorded one.

import { readFileSync } from 'node:fs'
import { expect, it } from '@jest/globals'
import { generate } from 'otplib'
import { z } from 'zod'
import { bearer, PASSWORD, type SessionServer, type TestTokens } from './server.ts'

const texts = z.record(z.string(), z.string())

const exchange = z.object({
  name: z.string(),
  as: z.string(),
  request: z.object({
    method: z.enum(['GET', 'POST']),
    path: z.string(),
    query: texts.optional(),
    headers: texts.optional(),
    contentType: z.string().optional(),
    body: z.record(z.string(), z.unknown()).optional(),
  }),
  response: z.object({ status: z.int(), headers: texts, body: z.unknown().optional() }),
  /** Paths in the response whose values are captured under these names. */
  capture: texts.optional(),
  /** Name under which the tokens of the response are captured. */
  session: z.string().optional(),
  partial: z.boolean().optional(),
})
type Exchange = z.infer<typeof exchange>

/** `server` is called when the tests run. `instead` replays an exchange of another area. */
export function replay(options: {
  file: string
  server: () => SessionServer
  instead?: Record<string, (ids: Map<string, string>) => Promise<void>>
  /** Exchanges whose response differs on purpose. */
  decided?: Record<string, { status: number; body: object }>
}): void {
  const file = new URL(`../../fixtures/recordings/${options.file}.json`, import.meta.url)
  const exchanges = z.array(exchange).parse(JSON.parse(readFileSync(file, 'utf8')))
  const vars = new Map<string, string>()

  it.each(exchanges.map((one) => [one.name, one] as const))('%s', async (name, one) => {
    const server = options.server()
    if (!vars.has('client_id')) {
      for (const [key, value] of Object.entries(server.client)) vars.set(key, value)
      await server.addUser({ username: 'recorded_admin', role: 0 })
      remember('admin', (await server.login('recorded_admin')).json<TestTokens>())
    }
    const instead = options.instead?.[name]
    if (instead) return await instead(vars)
    if (name.startsWith('setup: create user')) return await create(one)
    await play(one, options.decided?.[name])
  })

  async function create({ request, capture = {} }: Exchange): Promise<void> {
    const made = await options.server().addUser({ username: String(request.body?.username), password: PASSWORD })
    for (const key of Object.keys(capture)) vars.set(key, String(made.id))
  }

  async function play(one: Exchange, decided: { status: number; body: object } | undefined): Promise<void> {
    const { request, response } = one
    const token = vars.get(`access:${one.as}`)
    const body = await fillAll(request.body)
    const form = request.contentType === 'application/x-www-form-urlencoded'
    const answer = await options.server().app.inject({
      method: request.method,
      url: await fill(request.path),
      ...(request.query ? { query: texts.parse(await fillAll(request.query)) } : {}),
      headers: {
        ...(token ? bearer(token) : {}),
        ...(request.contentType ? { 'content-type': request.contentType } : {}),
        ...texts.parse(await fillAll(request.headers ?? {})),
      },
      ...(body === undefined ? {} : { payload: form ? new URLSearchParams(texts.parse(body)).toString() : JSON.stringify(body) }),
    })

    expect({ status: answer.statusCode, body: answer.body }).toMatchObject({
      status: decided?.status ?? response.status,
    })
    const got: unknown = answer.body === '' ? undefined : answer.json()
    if (one.session) remember(one.session, answer.json<TestTokens>())
    for (const [key, path] of Object.entries(one.capture ?? {})) vars.set(key, String(at(got, path)))
    if (decided) {
      expect(got).toMatchObject(decided.body)
      return
    }
    for (const [header, value] of Object.entries(response.headers)) expect(answer.headers[header]).toBe(value)
    const expected = comparable(await fillAll(response.body))
    if (one.partial) expect(comparable(got)).toMatchObject(z.looseObject({}).parse(expected))
    else expect(comparable(got)).toEqual(expected)
  }

  function remember(session: string, tokens: TestTokens): void {
    vars.set(`access:${session}`, tokens.access_token)
    vars.set(`refresh:${session}`, tokens.refresh_token)
  }

  async function fillAll(value: unknown): Promise<unknown> {
    if (typeof value === 'string') return await fill(value)
    if (Array.isArray(value)) return await Promise.all(value.map(fillAll))
    if (typeof value !== 'object' || value === null) return value
    const filled = await Promise.all(Object.entries(value).map(async ([key, item]) => [key, await fillAll(item)] as const))
    return Object.fromEntries(filled)
  }

  /** Captured placeholders get their value; others stay. */
  async function fill(text: string): Promise<string> {
    let filled = text
    for (const [place, key = ''] of text.matchAll(/\{\{([^{}]+)\}\}/g)) {
      const value = await known(key)
      if (value !== undefined) filled = filled.replace(place, value)
    }
    return filled
  }

  async function known(key: string): Promise<string | undefined> {
    if (key === 'host') return 'localhost:9000'
    if (key === 'hostEncoded') return encodeURIComponent('localhost:9000')
    const secret = key.startsWith('otp:') ? vars.get(`secret:${key.slice('otp:'.length)}`) : undefined
    return secret === undefined ? vars.get(key) : await generate({ secret })
  }
}

const at = (value: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((found, key) => z.looseObject({}).parse(found)[key], value)

/** Ids, wording and captured placeholders may differ. The recorded refusals have no title. */
function comparable(body: unknown, name = ''): unknown {
  if (Array.isArray(body)) return body.map((item) => comparable(item))
  if (typeof body === 'string') {
    return FREE.has(name) || (OPAQUE.has(name) && !body.startsWith('Bearer')) ? 'string' : body
  }
  if (typeof body === 'number') return FREE.has(name) ? 'number' : body
  if (typeof body !== 'object' || body === null) return body
  const { title: _title, ...members } = z.looseObject({}).parse(body)
  return Object.fromEntries(Object.entries(members).map(([key, value]) => [key, comparable(value, key)]))
}
const FREE = new Set(['id', 'msg', 'detail', 'error', 'instance'])
const OPAQUE = new Set(['access_token', 'refresh_token', 'feedToken', 'requestToken'])
