// Remote servers, inserted by SQL: actors with real keys, and activities that are signed in advance.

import { createHash, createSign } from 'node:crypto'
import pg from 'pg'
import { newUuid } from '../../src/platform/ids.ts'
import { type ActorKeys, generateActorKeys } from '../../src/platform/keys.ts'

export interface BenchPeer {
  url: string
  keys: ActorKeys
}

export interface SignedPost {
  path: string
  headers: Record<string, string>
  body: string
}

/** Actors share a few key pairs: generating keys is slow, and using them does not depend on the owner. */
const KEY_PAIRS = 4

/** Runs statements on the database of a server that was started once. */
export async function withDatabase<T>(databaseUrl: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** Remote accounts, `perHost` on each of `hosts`; all accounts of the n-th host share the n-th of `inboxes`, in rotation. */
export async function seedPeers(options: {
  databaseUrl: string
  prefix: string
  hosts: number
  perHost: number
  inboxes: readonly string[]
}): Promise<BenchPeer[]> {
  const { databaseUrl, prefix, hosts, perHost, inboxes } = options
  const keys = await Promise.all(Array.from({ length: KEY_PAIRS }, generateActorKeys))
  return await withDatabase(databaseUrl, async (client) => {
    await client.query('begin')
    await client.query("insert into remote_host (host) select $1 || n || '.example' from generate_series(1, $2::integer) as n", [
      prefix,
      hosts,
    ])
    const { rows } = await client.query<{ url: string; pair: number }>(
      `with made as (
         insert into actor (type, preferred_username, host_id, url, inbox_url, shared_inbox_url, key_id, public_key_pem,
           refreshed_at)
         select 'Person', 'user' || n, h.id, base || n, base || n || '/inbox', inbox || '?' || h.host, base || n || '#main-key',
           ($3::text[])[1 + (h.id + n) % $4], now()
         from remote_host h,
           lateral (select substring(h.host from '[0-9]+')::integer as place) as numbered,
           lateral (select 'https://' || h.host || '/accounts/user' as base,
             ($5::text[])[1 + (place - 1) % cardinality($5::text[])] as inbox) as named,
           generate_series(1, $2::integer) as n
         where h.host like $1 || '%'
         returning id, url, host_id, preferred_username
       ), accounts as (
         insert into account (actor_id, name) select id, preferred_username from made
       ) select url, (host_id + substring(preferred_username from '[0-9]+')::integer) % $4 as pair from made`,
      [prefix, perHost, keys.map(({ rsa }) => rsa.publicPem), KEY_PAIRS, inboxes],
    )
    await client.query('commit')
    await client.query('vacuum analyze remote_host, actor, account')
    return rows.map(({ url, pair }) => ({ url, keys: keys[pair] as ActorKeys }))
  })
}

/** Makes all of them followers of the actor. */
export async function follow(databaseUrl: string, peers: readonly BenchPeer[], targetUrl: string): Promise<void> {
  await withDatabase(databaseUrl, (client) =>
    client.query(
      `insert into follow (follower_id, target_id, state)
       select a.id, t.id, 'accepted' from actor a, actor t where a.url = any($1) and t.url = $2`,
      [peers.map(({ url }) => url), targetUrl],
    ),
  )
}

/** A comment on a video, as sent by its author's server. */
export function commentBy(author: BenchPeer, videoUrl: string, inbox: string): SignedPost {
  const id = new URL(`/notes/${newUuid()}`, author.url).href
  const to = ['https://www.w3.org/ns/activitystreams#Public']
  const cc = [`${author.url}/followers`]
  const published = new Date().toISOString()
  const note = {
    type: 'Note',
    id,
    url: id,
    to,
    cc,
    published,
    inReplyTo: videoUrl,
    attributedTo: author.url,
    tag: [],
    content: '<p>What a fine video this is, well said and well shown.</p>',
    mediaType: 'text/html',
  }
  const activity = {
    '@context': ['https://www.w3.org/ns/activitystreams'],
    type: 'Create',
    id: `${id}/activity`,
    actor: author.url,
    to,
    cc,
    object: note,
  }
  return signed(author, inbox, JSON.stringify(activity))
}

function signed(by: BenchPeer, inbox: string, body: string): SignedPost {
  const { host, pathname } = new URL(inbox)
  const date = new Date().toUTCString()
  const digest = `SHA-256=${createHash('sha256').update(body).digest('base64')}`
  const text = `(request-target): post ${pathname}\nhost: ${host}\ndate: ${date}\ndigest: ${digest}`
  const signature = createSign('sha256').update(text).sign(by.keys.rsa.privatePem, 'base64')
  return {
    path: pathname,
    body,
    headers: {
      host,
      date,
      digest,
      'content-type': 'application/activity+json',
      signature: `keyId="${by.url}#main-key",algorithm="rsa-sha256",headers="(request-target) host date digest",signature="${signature}"`,
    },
  }
}
