// Registration, verification and password resets over REST, by the recorded exchanges in their order, with their mails. The server
// restarts with other keys where the recorded configuration changed.

import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { z } from 'zod'
import { type MailNode, startMailNode } from './node.ts'

const request = z.object({
  method: z.string(),
  path: z.string(),
  query: z.record(z.string(), z.coerce.string()).optional(),
  contentType: z.string().optional(),
  body: z.unknown().optional(),
})
const exchange = z.union([
  z.object({
    name: z.string(),
    mail: z.object({ to: z.string(), regex: z.string().optional(), capture: z.array(z.string()).optional() }),
  }),
  z.object({
    name: z.string(),
    as: z.string(),
    request,
    response: z.object({ status: z.int(), body: z.unknown().optional() }),
    partial: z.boolean().optional(),
    capture: z.record(z.string(), z.string()).optional(),
    session: z.string().optional(),
  }),
])
type Exchange = z.infer<typeof exchange>

/** Recorded 500 responses that are refusals here. */
const OUR_STATUS: Record<string, number> = { 'verify: bad isPendingEmail': 400 }

/** Exchanges of users and settings are covered by their own tests. */
const ELSEWHERE = new Set([
  'accepted user is verified',
  'change email: missing current password',
  'change email: wrong current password',
  'me with pending email',
  'me after change',
])

const signupPatch = z.object({
  $merge: z.tuple([
    z.string(),
    z.object({
      signup: z.object({
        enabled: z.boolean(),
        requiresApproval: z.boolean().optional(),
        requiresEmailVerification: z.boolean().optional(),
      }),
    }),
  ]),
})

describe.each(['registration', 'verify-email'])('%s', (area) => {
  const file = new URL(`../../fixtures/recordings/${area}.json`, import.meta.url)
  const exchanges = z
    .array(exchange)
    .parse(JSON.parse(readFileSync(file, 'utf8')))
    .filter(({ name }) => !ELSEWHERE.has(name))
  const known = new Map<string, string>()
  let at: MailNode

  beforeAll(async () => {
    at = await startMailNode()
    const client = await at.ask('GET', '/oauth-clients/local')
    for (const [name, value] of Object.entries(client.body)) known.set(name, String(value))
    known.set('session admin', at.root)
  })
  afterAll(() => at?.stop())

  const fill = (text: string) => text.replace(/\{\{([^}]+)\}\}/g, (whole, name: string) => known.get(name) ?? whole)

  async function readMail({ to, regex, capture = [] }: Extract<Exchange, { mail: object }>['mail']): Promise<void> {
    const { text } = await at.mail.next(to)
    if (regex === undefined) return
    const found = new RegExp(regex).exec(text)
    expect(found).not.toBeNull()
    capture.forEach((name, index) => void known.set(name, found?.[index + 1] ?? ''))
  }

  async function send(requested: z.infer<typeof request>, as: string) {
    const query = requested.query ? `?${new URLSearchParams(requested.query)}` : ''
    const authorization = known.get(`session ${as}`)
    const isForm = requested.contentType === 'application/x-www-form-urlencoded'
    const json = requested.body === undefined ? undefined : fill(JSON.stringify(requested.body))
    const response = await fetch(`${at.node.base}${fill(requested.path)}${query}`, {
      method: requested.method,
      headers: {
        ...(authorization === undefined ? {} : { authorization }),
        ...(requested.contentType === undefined ? {} : { 'content-type': requested.contentType }),
      },
      ...(json === undefined ? {} : { body: isForm ? new URLSearchParams(JSON.parse(json)) : json }),
    })
    const text = await response.text()
    return { status: response.status, got: text === '' ? undefined : JSON.parse(text) }
  }

  it.each(exchanges.map((one) => [one.name, one] as const))('%s', async (name, one) => {
    if ('mail' in one) return await readMail(one.mail)
    if (one.request.path === '/api/v1/config/custom') {
      const { signup } = signupPatch.parse(one.request.body).$merge[1]
      return await at.setSignup({
        enabled: signup.enabled,
        requires_approval: signup.requiresApproval ?? false,
        requires_email_verification: signup.requiresEmailVerification ?? false,
      })
    }
    if (name === 'change email') {
      // Like a change of one's own settings, within its transaction.
      const [user] = await at.query<{ id: number }>(
        "update users set pending_email = 'verify_u1new@example.com' where username = 'verify_u1' returning id",
      )
      await at.query("insert into job (type, queue, data, max_attempts, due_at) values ('email', 'mail', $1, 5, $2)", [
        { mail: 'verify-email', userId: user?.id, pending: 1 },
        at.clock.now(),
      ])
      return
    }
    const { status, got } = await send(one.request, one.as)
    const expected = OUR_STATUS[name] ?? one.response.status
    expect({ status, got }).toMatchObject({ status: expected })
    for (const [captured, path] of Object.entries(one.capture ?? {})) known.set(captured, String(got[path]))
    if (one.session) known.set(`session ${one.session}`, `Bearer ${got.access_token}`)
    if (expected !== one.response.status || one.partial) return
    expect(comparable(got)).toEqual(comparable(withTitle(one.response.body ?? undefined)))
  })
})

/** Dates, tokens, user ids and wording may differ; names, types and states may not. */
function comparable(body: unknown): unknown {
  if (Array.isArray(body)) return body.map(comparable)
  if (typeof body !== 'object' || body === null) return body
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => [
      name,
      name === 'user' && value !== null ? 'a user' : FREE.has(name) ? typeof value : comparable(value),
    ]),
  )
}
const FREE = new Set(['createdAt', 'updatedAt', 'access_token', 'refresh_token', 'instance', 'title', 'detail', 'error', 'msg'])
/** The recorded refusals of a missing token have no title. */
const withTitle = (body: unknown) => (typeof body === 'object' && body !== null && 'status' in body ? { title: 'string', ...body } : body)
