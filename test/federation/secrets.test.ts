// Secrets do not leak: whatever a node does with others, no private key, token or password is in a table, a queue or a log, except for the
// columns for it.

import { createPrivateKey } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { login } from '../../scripts/demo/client.ts'
import { makeLogger } from '../../src/platform/logger.ts'
import { makeSecrets, type Secrets } from '../../src/platform/secrets.ts'
import { type FakePeer, type PeerActor, startFakePeer } from '../support/fake-peer.ts'
import { media } from '../support/media.ts'
import { until } from '../support/until.ts'
import { type FederatedNode, introduce, startFederatedNode } from './support.ts'

interface Keys {
  url: string
  host_id: number | null
  private_key_sealed: string | null
  ed25519_private_sealed: string | null
}

/** Where a secret may be stored in plain text: its owner reads it back by the API. */
const SHOWN_TO_THEIR_OWNER = ['public.video_password.password']
const PASSWORDS = {
  root: 'test-password',
  user: 'the long password of a user',
  wrong: 'a password that was never right',
  video: 'the password of a video',
}

let ours: FederatedNode
let well: FakePeer
let failing: FakePeer
let refusing: FakePeer
let log = ''
let tokens: Record<string, string> = {}
let secrets: Secrets

beforeAll(async () => {
  const destination = new Writable({
    write(chunk, _encoding, done) {
      log += String(chunk)
      done()
    },
  })
  const inbox = { initial_backoff: '10 ms', max_backoff: '20 ms' }
  ;[well, failing, refusing] = await Promise.all([startFakePeer(), startFakePeer(), startFakePeer()])
  const logger = makeLogger({ level: 'trace', destination })
  ours = await startFederatedNode({ vireo: { federation: { inbox } } }, { logger })
  secrets = makeSecrets({ secret: (await readFile(join(ours.node.dataDir, 'secret.key'), 'utf8')).trim() })
  await live()
})
afterAll(async () => {
  await Promise.all([well?.close(), failing?.close(), refusing?.close(), ours?.stop()])
})

/** Everything that a node does with others that reaches tables, queues and logs. */
async function live(): Promise<void> {
  const bytes = await readFile(await media('small.mp4'))
  const names = ['wanda', 'frank', 'ruth']
  const peers = [well, failing, refusing]
  const people: { account: PeerActor; channel: PeerActor }[] = []
  for (const [index, peer] of peers.entries()) {
    const one = await introduce(ours, peer, names[index] ?? '')
    await ours.deliver(one.account, peer.activity(one.account, 'Follow', ours.instance))
    people.push(one)
  }
  await well.awaited('the answer', ({ activity }) => activity.type === 'Accept')
  failing.answerPosts(() => 503)
  refusing.answerPosts(() => 400)

  const { user } = await ours.client.send<{ user: { id: number } }>('POST', '/api/v1/users', {
    username: 'ulla',
    email: 'ulla@example.com',
    password: PASSWORDS.user,
    role: 2,
  })
  const ulla = await login(ours.base, 'ulla', PASSWORDS.user)
  const feed = await ulla.get<{ feedToken: string }>('/api/v1/users/scoped-tokens')
  tokens = {
    root: ours.client.authorization.replace('Bearer ', ''),
    user: ulla.authorization.replace('Bearer ', ''),
    feed: feed.feedToken,
    ...(await refreshToken()),
  }
  await login(ours.base, 'ulla', PASSWORDS.wrong).catch(() => undefined)
  await fetch(`${ours.base}/api/v1/users/me`, { headers: { authorization: `Bearer ${tokens.refresh}` } })

  const video = await ours.upload(bytes)
  const secret = await ours.upload(bytes, { privacy: '5', 'videoPasswords[0]': PASSWORDS.video })
  await fetch(`${ours.base}/api/v1/videos/${secret.uuid}`, {
    headers: { 'x-peertube-video-password': PASSWORDS.video },
  })
  for (const [index, peer] of peers.entries()) {
    const { account } = people[index] ?? {}
    if (!account) continue
    await ours.deliver(account, peer.activity(account, 'Create', peer.note({ author: account.url, inReplyTo: video.url })))
    await ours.deliver(account, peer.activity(account, 'Like', video.url))
    const remote = peer.video(people[index] ?? { account, channel: account })
    await ours.deliver(account, peer.activity(account, 'Create', remote))
    const [row] = await ours.query<{ id: number }>('select id from video where url = $1', [remote.id])
    await ulla.send('POST', `/api/v1/videos/${row?.id}/comment-threads`, { text: 'Hello' })
    await ulla.send('PUT', `/api/v1/videos/${row?.id}/rate`, { rating: 'like' })
    await ours.client.send('POST', '/api/v1/server/redundancy/videos', { videoId: row?.id })
    await ours.client.send('POST', '/api/v1/abuses', { reason: 'Bad', video: { id: row?.id } })
    await ours.client.send('POST', '/api/v1/server/following', { hosts: [peer.host] })
  }
  await ours.client.send('PUT', '/api/v1/users/me', { displayName: 'The root' })
  await ours.client.send('POST', '/api/v1/users/ask-reset-password', { email: 'ulla@example.com' })
  await ours.client.send('POST', '/api/v1/server/blocklist/servers', { host: '127.0.0.1:1' })
  // An activity that always fails is parked; nothing else may fail with it.
  await ours.settled()
  await ours.query('alter table rating rename to rating_away')
  await ours.deliver(people[0]?.account ?? well.instance, well.activity(people[0]?.account ?? well.instance, 'Dislike', video.url))
  await until(async () => (await ours.query("select 1 from incoming_activity where state = 'parked'"))[0])
  await ours.query('alter table rating_away rename to rating')
  await until(async () => (await ours.query("select 1 from remote_host where state = 'failing'"))[0])
  await ours.query("update delivery set state = 'failed', error = 'refused' where id = (select min(id) from delivery)")
  await ours.client.send('DELETE', `/api/v1/users/${user.id}`)
  await ours.settled()
}

async function refreshToken(): Promise<Record<string, string>> {
  const client = (await (await fetch(`${ours.base}/api/v1/oauth-clients/local`)).json()) as Record<string, string>
  const body = new URLSearchParams({ ...client, grant_type: 'password', username: 'root', password: PASSWORDS.root })
  const answer = await fetch(`${ours.base}/api/v1/users/token`, { method: 'POST', body })
  const { access_token: access = '', refresh_token: refresh = '' } = (await answer.json()) as Record<string, string>
  return { access, refresh }
}

const keysOfAll = () => ours.query<Keys>('select url, host_id, private_key_sealed, ed25519_private_sealed from actor order by id')

/** Parts that are unique to a private key, in each encoding of keys. */
function partsOf(pem: string): string[] {
  const key = createPrivateKey(pem)
  const { d = '', p = '', q = '' } = key.export({ format: 'jwk' })
  const der = key.export({ format: 'der', type: 'pkcs8' })
  const lines = pem.split('\n').filter((line) => line.length > 30 && !line.startsWith('-'))
  const inside = der.subarray(-24)
  // The common prefix of all keys of a kind is no secret.
  return [...lines.slice(lines.length > 2 ? 2 : 0).map((line) => line.slice(-30)), d, p, q, inside.toString('hex')].filter(
    (part) => part.length > 20,
  )
}

/** Each encoding of a text in a column or a line. */
const waysOf = (text: string): string[] => [
  text,
  Buffer.from(text).toString('hex'),
  Buffer.from(text).toString('base64').replace(/=+$/, ''),
  encodeURIComponent(text),
]

/** `schema.table.column` with its values, of every table. */
async function columns(): Promise<[string, string][]> {
  const tables = await ours.query<{ name: string }>(
    `select quote_ident(table_schema) || '.' || quote_ident(table_name) as name from information_schema.tables
     where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`,
  )
  const found: [string, string][] = []
  for (const { name } of tables) {
    const rows = await ours.query<{ column: string; text: string }>(
      `select e.key as column, string_agg(e.value, E'\\n') as text from ${name} t, jsonb_each_text(to_jsonb(t)) e
       where e.value is not null group by e.key`,
    )
    found.push(...rows.map((row): [string, string] => [`${name}.${row.column}`, row.text]))
  }
  return found
}

const placesOf = (needles: string[], haystacks: [string, string][]): string[] =>
  haystacks.filter(([, text]) => needles.some((needle) => text.includes(needle))).map(([name]) => name)

describe('after much federation', () => {
  it('much has happened', async () => {
    const states = async (sql: string) => (await ours.query<{ is: string }>(sql)).map((row) => row.is)
    expect(await states('select distinct state as is from delivery order by 1')).toEqual(expect.arrayContaining(['failed', 'waiting']))
    expect(await states('select distinct state as is from incoming_activity order by 1')).toContain('parked')
    expect((await states('select distinct type as is from job')).length).toBeGreaterThan(6)
    expect(log.split('\n').length).toBeGreaterThan(100)
    const all = await columns()
    for (const schema of ['public', 'bullmq']) {
      expect(all.some(([name]) => name.startsWith(`${schema}.`))).toBe(true)
    }
  })

  it('the private keys of local actors are sealed, in their columns alone, and no other actor has any', async () => {
    const all = await keysOfAll()
    const haystacks: [string, string][] = [...(await columns()), ['the log', log]]
    expect(placesOf(['PRIVATE KEY-----'], haystacks)).toEqual([])
    const local = all.filter(({ host_id, private_key_sealed }) => host_id === null && private_key_sealed !== null)
    expect(local.length).toBeGreaterThanOrEqual(3)
    for (const { host_id, private_key_sealed, ed25519_private_sealed } of all) {
      if (host_id !== null) expect([private_key_sealed, ed25519_private_sealed]).toEqual([null, null])
    }
    for (const { url, private_key_sealed, ed25519_private_sealed } of local) {
      for (const [column, sealed] of Object.entries({ private_key_sealed, ed25519_private_sealed })) {
        const pem = secrets.open(sealed ?? '')
        expect(pem).toContain('PRIVATE KEY')
        const parts = partsOf(pem).flatMap(waysOf)
        expect({ url, places: placesOf(parts, haystacks) }).toEqual({ url, places: [] })
        expect(placesOf([sealed ?? ''], haystacks)).toEqual([`public.actor.${column}`])
      }
    }
  })

  it('passwords and tokens are stored nowhere, in no encoding', async () => {
    const haystacks: [string, string][] = [...(await columns()), ['the log', log]]
    for (const [name, secret] of [...Object.entries(PASSWORDS), ...Object.entries(tokens)]) {
      expect(secret.length).toBeGreaterThan(10)
      const places = placesOf(waysOf(secret), haystacks).filter((place) => !SHOWN_TO_THEIR_OWNER.includes(place))
      expect({ name, places }).toEqual({ name, places: [] })
    }
  })

  it('queued data contains only ids, hosts and URLs', async () => {
    const jobs = await ours.query<{ type: string; data: Record<string, unknown> }>('select type, data from job')
    for (const { type, data } of jobs) {
      for (const [name, value] of Object.entries(data)) {
        expect([type, name, typeof value === 'number' || /^[\w.@:/-]{1,200}$/.test(String(value))]).toEqual([type, name, true])
      }
    }
    const queued = (await columns()).filter(([name]) => name.startsWith('bullmq.'))
    for (const [name, text] of queued) expect([name, /"password"|"token"|BEGIN/.test(text)]).toEqual([name, false])
  })
})
