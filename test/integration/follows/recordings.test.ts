// The follows of the instance over REST, by the recorded exchanges in their order, with a fake peer as the remote server.

import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import pg from 'pg'
import { z } from 'zod'
import { login } from '../../../scripts/demo/client.ts'
import { type FakePeer, type JsonObject, type PeerActor, post, startFakePeer } from '../../support/fake-peer.ts'
import { startTestNode, type TestNode } from '../../support/node.ts'
import { until } from '../../support/until.ts'

const exchange = z.object({
  name: z.string(),
  as: z.enum(['anonymous', 'user', 'moderator', 'admin']),
  request: z.object({
    method: z.string(),
    path: z.string(),
    query: z.record(z.string(), z.coerce.string()).optional(),
    body: z.unknown().optional(),
  }),
  response: z.object({ status: z.int(), headers: z.record(z.string(), z.string()), body: z.unknown().optional() }),
})
const file = new URL('../../fixtures/recordings/follows.json', import.meta.url)
const exchanges = z.array(exchange).parse(JSON.parse(readFileSync(file, 'utf8')))

let node: TestNode
let peer: FakePeer
let channel: PeerActor
const tokens: Partial<Record<z.infer<typeof exchange>['as'], string>> = {}

beforeAll(async () => {
  ;[node, peer] = await Promise.all([startTestNode({ config: { followers: { instance: { manual_approval: true } } } }), startFakePeer()])
  channel = await peer.channel('root_channel', await peer.account('root'))
  tokens.admin = (await login(node.base, node.username, node.password)).authorization
  for (const [name, role] of [
    ['user', 2],
    ['moderator', 1],
  ] as const) {
    // A copy of the administrator's row with another name and role.
    await withDatabase(async (db) => {
      await db.query(
        `insert into users (username, role, password_hash, email)
         select $1, $2, password_hash, $1 || '@example.com' from users where username = 'root'`,
        [`follows_${name}`, role],
      )
      await db.query(
        `with actor as (
           insert into actor (type, preferred_username, url, inbox_url) values ('Person', $1, $2, $2 || '/inbox') returning id
         ) insert into account (actor_id, user_id, name) select actor.id, u.id, $1 from actor, users u where u.username = $1`,
        [`follows_${name}`, `${node.base}/accounts/follows_${name}`],
      )
    })
    tokens[name] = (await login(node.base, `follows_${name}`, node.password)).authorization
  }
})
afterAll(async () => {
  await Promise.all([peer?.close(), node?.stop()])
})

async function withDatabase<T>(work: (db: pg.Client) => Promise<T>): Promise<T> {
  const db = new pg.Client({ connectionString: node.databaseUrl })
  await db.connect()
  try {
    return await work(db)
  } finally {
    await db.end()
  }
}

const fill = (text: string) =>
  text
    .replaceAll('{{remoteHost}}', peer.host)
    .replaceAll('{{remote}}', peer.base)
    .replaceAll('{{host}}', new URL(node.base).host)
    .replaceAll('{{base}}', node.base)

const ask = (method: string, path: string, init: { as: z.infer<typeof exchange>['as']; body?: unknown }) =>
  fetch(`${node.base}${path}`, {
    method,
    headers: {
      ...(tokens[init.as] ? { authorization: tokens[init.as] ?? '' } : {}),
      ...(init.body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(init.body === undefined ? {} : { body: JSON.stringify(init.body) }),
  })

const list = async (direction: 'following' | 'followers') =>
  (await (await ask('GET', `/api/v1/server/${direction}?count=100`, { as: 'anonymous' })).json()) as {
    total: number
    data: { state: string }[]
  }

/** What the remote server does before or after an exchange. */
const answerFollows = async (count: number) => {
  await until(() => peer.of('Follow').length >= count, { what: 'our Follow' })
  for (const { activity } of peer.of('Follow').slice(0, count)) {
    const actor = activity.object === channel.url ? channel : peer.instance
    await post(node, actor, peer.activity(actor, 'Accept', activity))
  }
  await until(async () => (await list('following')).data.filter((one) => one.state === 'accepted').length === count)
}
const before: Record<string, () => Promise<void>> = {
  'following: accepted': () => answerFollows(1),
  'following: two': () => answerFollows(2),
  'followers: pending': async () => {
    await post(node, peer.instance, peer.activity(peer.instance, 'Follow', `${node.base}/accounts/peertube`))
    await until(async () => (await list('followers')).total === 1)
  },
}

/** Numbers, dates and wording may differ; names, types and states may not. */
function comparable(body: unknown): unknown {
  if (Array.isArray(body)) return body.map(comparable)
  if (typeof body !== 'object' || body === null) return body
  return Object.fromEntries(Object.entries(body).map(([name, value]) => [name, FREE.has(name) ? typeof value : comparable(value)]))
}
const FREE = new Set(['id', 'createdAt', 'updatedAt', 'score', 'msg', 'followersCount', 'followingCount', 'title', 'detail', 'error'])
/** The recorded refusals of a missing token have no title. */
const withTitle = (body: unknown) => (typeof body === 'object' && body !== null && 'status' in body ? { title: 'string', ...body } : body)

it.each(exchanges.map((one) => [one.name, one] as const))('%s', async (name, { as, request, response }) => {
  await before[name]?.()
  const query = request.query ? `?${new URLSearchParams(request.query)}` : ''
  const body = request.body === undefined ? undefined : JSON.parse(fill(JSON.stringify(request.body)))
  const answer = await ask(request.method, `${fill(request.path)}${query}`, { as, body })
  const text = await answer.text()
  const got: unknown = text === '' ? undefined : JSON.parse(text)
  expect({ status: answer.status, got }).toMatchObject({ status: response.status })
  if (response.body === undefined || response.body === null || typeof response.body === 'string') {
    expect(got).toBeUndefined()
    return
  }
  const expected: JsonObject = JSON.parse(fill(JSON.stringify(response.body)))
  expect(comparable(got)).toEqual(comparable('total' in expected ? expected : withTitle(expected)))
})
