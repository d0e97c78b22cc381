// A fake remote server on loopback: it serves actors, videos and collections, signs its posts with real keys, and records the posts it
// receives.

import { createHash, createSign } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, request as send } from 'node:http'
import { importPrivateKey, signDocument, signOutgoing } from '../../src/federation/security/index.ts'
import { AS_PUBLIC, contextOf, type JsonObject } from '../../src/federation/wire/context.ts'
import { newUuid } from '../../src/platform/ids.ts'
import type { ActorKeys } from '../../src/platform/keys.ts'
import { peerKeys } from './fast-crypto.ts'
import { until } from './until.ts'

export type { JsonObject }

export interface PeerActor {
  url: string
  keyId: string
  keys: ActorKeys
  document: JsonObject
}

export interface Received {
  path: string
  headers: IncomingHttpHeaders
  activity: JsonObject
  /** The raw body. */
  raw: string
}

export interface PeerAnswer {
  status?: number
  /** Default `application/activity+json`. */
  type?: string
  body?: unknown
  /** A raw body instead of JSON. */
  raw?: string | Buffer
  /** Location of a redirect. */
  location?: string
}

type Answering = (query: URLSearchParams, headers: IncomingHttpHeaders) => PeerAnswer | Promise<PeerAnswer>

/** Defects or variations of a posted activity; by default it has a valid cavage signature of the actor. */
export interface PostOptions {
  /** The signing actor; null for an unsigned request. */
  signer?: PeerActor | null
  profile?: 'cavage' | 'rfc9421'
  date?: Date
  /** The key that signs, independent of the key id. */
  key?: ActorKeys
  keyId?: string
  /** Bytes to send instead of the signed ones. */
  sentBody?: string | Buffer
  /** Value of the Digest header instead of the right one. */
  digest?: string
  /** Names of the signed components. */
  covered?: string[]
  /** Additional headers, signed too. */
  more?: Record<string, string>
  algorithm?: string
  inbox?: string
  contentType?: string
  /** Names of headers to omit. */
  without?: string[]
  /** Sends the signature as `Authorization: Signature …`. */
  inAuthorization?: boolean
}

export interface Posted {
  status: number
  body: string
  /** Retry-After, in seconds. */
  retryAfter: string | undefined
}

export interface FakePeer {
  base: string
  host: string
  instance: PeerActor
  /** Received posts, in order. */
  received: Received[]
  /** Requested paths, except those of followers collections. */
  fetched: string[]
  account(name: string): Promise<PeerActor>
  channel(name: string, owner: PeerActor): Promise<PeerActor>
  /** Adds a video that can be fetched by its id. */
  video(of: { account: PeerActor; channel: PeerActor; more?: JsonObject }): JsonObject & { id: string }
  note(of: { author: string; inReplyTo: string; content?: string; more?: JsonObject }): JsonObject & { id: string }
  /** Sets the answer of a path or URL of the peer. */
  serve(address: string, answer: JsonObject | Answering): void
  /** Sets the answer to all following posts; 204 when undefined. */
  answerPosts(answer: ((received: Received) => number) | undefined): void
  id(name?: string): string
  activity(actor: PeerActor, type: string, object: unknown, more?: JsonObject): JsonObject & { id: string }
  /** Waits for the first post that matches. */
  awaited(what: string, fits: (received: Received) => boolean, withinMs?: number): Promise<Received>
  of(type: string): Received[]
  /** Stops listening, as if the server was down, and listens again. */
  down(): Promise<void>
  up(): Promise<void>
  close(): Promise<void>
}

export async function startFakePeer(): Promise<FakePeer> {
  const answers = new Map<string, Answering>()
  const received: Received[] = []
  const fetched: string[] = []
  let statusOf: ((received: Received) => number) | undefined

  const server = createServer(async (request, response) => {
    const address = request.url ?? '/'
    const url = new URL(address, 'http://peer')
    if (request.method === 'POST') {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk)
      const raw = Buffer.concat(chunks).toString('utf8')
      const activity: JsonObject = JSON.parse(raw)
      const one = { path: url.pathname, headers: request.headers, activity, raw }
      received.push(one)
      response.writeHead(statusOf?.(one) ?? 204).end()
      return
    }
    // Followers collections are fetched some time after an actor, independent of the test.
    if (!url.pathname.endsWith('/followers')) fetched.push(address)
    const {
      status = 200,
      type = 'application/activity+json',
      body,
      raw,
      location,
    } = (await answers.get(url.pathname)?.(url.searchParams, request.headers)) ?? { status: 404 }
    response
      .writeHead(status, { 'content-type': type, ...(location === undefined ? {} : { location }) })
      .end(raw ?? (body === undefined ? '' : JSON.stringify(body)))
  })
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  await listen(0)
  const bound = server.address()
  const port = typeof bound === 'object' ? (bound?.port ?? 0) : 0
  const host = `127.0.0.1:${port}`
  const base = `http://${host}`

  const stop = async () => {
    server.closeAllConnections()
    if (server.listening) await new Promise((resolve) => server.close(resolve))
  }

  function serve(address: string, answer: JsonObject | Answering): void {
    const { pathname } = new URL(address, base)
    answers.set(pathname, typeof answer === 'function' ? answer : () => ({ body: answer }))
  }

  async function actor(type: string, path: string, more: JsonObject = {}): Promise<PeerActor> {
    const keys = await peerKeys()
    const url = `${base}${path}`
    const keyId = `${url}#main-key`
    const document = {
      '@context': contextOf('actor'),
      type,
      id: url,
      preferredUsername: path.split('/').at(-1),
      name: `The ${path.split('/').at(-1)}`,
      inbox: `${url}/inbox`,
      outbox: `${url}/outbox`,
      followers: `${url}/followers`,
      following: `${url}/following`,
      endpoints: { sharedInbox: `${base}/inbox` },
      publicKey: { id: keyId, owner: url, publicKeyPem: keys.rsa.publicPem },
      published: '2026-01-01T00:00:00.000Z',
      ...more,
    }
    serve(url, document)
    return { url, keyId, keys, document }
  }

  const instance = await actor('Application', '/accounts/peertube')
  const json = (body: JsonObject) => () => ({ type: 'application/json', body })
  serve(
    '/.well-known/nodeinfo',
    json({
      links: [
        { rel: 'http://nodeinfo.diaspora.software/ns/schema/2.0', href: `${base}/nodeinfo/2.0.json` },
        { rel: 'https://www.w3.org/ns/activitystreams#Application', href: instance.url },
      ],
    }),
  )
  serve('/nodeinfo/2.0.json', json({ version: '2.0', software: { name: 'peertube', version: '6.3.0' } }))
  serve('/.well-known/webfinger', (query) => {
    const name = /^acct:([^@]+)@/.exec(query.get('resource') ?? '')?.[1]
    const path = [`/accounts/${name}`, `/video-channels/${name}`].find((one) => answers.has(one))
    if (!path) return { status: 404 }
    const links = [{ rel: 'self', type: 'application/activity+json', href: `${base}${path}` }]
    return { type: 'application/jrd+json', body: { subject: query.get('resource'), links } }
  })
  outboxOf(instance.url, [])

  function outboxOf(actorUrl: string, items: unknown[]): void {
    const id = `${actorUrl}/outbox`
    serve(id, {
      '@context': contextOf('base'),
      type: 'OrderedCollection',
      id,
      totalItems: items.length,
      orderedItems: items,
    })
  }

  const id = (name = 'activities') => `${base}/${name}/${newUuid()}`

  return {
    base,
    host,
    instance,
    received,
    fetched,
    serve,
    id,
    account: (name) => actor('Person', `/accounts/${name}`),
    channel: (name, owner) => actor('Group', `/video-channels/${name}`, { attributedTo: [{ type: 'Person', id: owner.url }] }),
    video({ account, channel, more = {} }) {
      const uuid = newUuid()
      const url = `${base}/videos/watch/${uuid}`
      const document = {
        '@context': contextOf('video'),
        ...videoAt(url, uuid),
        cc: [`${account.url}/followers`],
        attributedTo: [
          { type: 'Person', id: account.url },
          { type: 'Group', id: channel.url },
        ],
        ...more,
        id: url,
      }
      serve(url, document)
      return document
    },
    note({ author, inReplyTo, content = 'Well said', more = {} }) {
      const url = id('notes')
      const document = {
        '@context': contextOf('comment'),
        type: 'Note',
        to: [AS_PUBLIC],
        cc: [`${author}/followers`],
        content,
        mediaType: 'text/markdown',
        inReplyTo,
        published: new Date().toISOString(),
        url,
        attributedTo: author,
        tag: [],
        ...more,
        id: url,
      }
      serve(url, document)
      return document
    },
    answerPosts(answer) {
      statusOf = answer
    },
    activity: (by, type, object, more = {}) => ({
      '@context': contextOf('base'),
      to: [AS_PUBLIC],
      cc: [],
      type,
      id: id(),
      actor: by.url,
      object,
      ...more,
    }),
    awaited: (what, fits, withinMs) => until(() => received.find(fits), { what, ...(withinMs === undefined ? {} : { withinMs }) }),
    of: (type) => received.filter((one) => one.activity.type === type),
    down: stop,
    up: () => listen(port),
    close: stop,
  }
}

function videoAt(url: string, uuid: string): JsonObject {
  const { origin } = new URL(url)
  const image = (name: string, width: number, height: number) => ({
    type: 'Image',
    url: `${origin}/lazy-static/${name}/${uuid}.jpg`,
    mediaType: 'image/jpeg',
    width,
    height,
  })
  return {
    to: [AS_PUBLIC],
    type: 'Video',
    name: 'A video of a peer',
    duration: 'PT10S',
    uuid,
    views: 0,
    sensitive: false,
    waitTranscoding: true,
    state: 1,
    commentsEnabled: true,
    commentsPolicy: 1,
    downloadEnabled: true,
    published: '2026-02-01T00:00:00.000Z',
    originallyPublishedAt: null,
    updated: '2026-02-01T00:00:00.000Z',
    tag: [],
    mediaType: 'text/markdown',
    content: null,
    support: null,
    subtitleLanguage: [],
    icon: [image('thumbnails', 280, 157), image('previews', 850, 480)],
    url: [
      { type: 'Link', mediaType: 'text/html', href: url },
      { type: 'Link', mediaType: 'video/mp4', href: `${url}.mp4`, height: 240, width: 320, size: 1000, fps: 25 },
    ],
    likes: `${url}/likes`,
    dislikes: `${url}/dislikes`,
    shares: `${url}/announces`,
    comments: `${url}/comments`,
  }
}

/** The document with an embedded signature of its author, so that others can forward it. */
export async function signedInside(document: JsonObject, author: PeerActor): Promise<JsonObject> {
  const rsa = { keyId: author.keyId, privateKey: await importPrivateKey(author.keys.rsa.privatePem) }
  return await signDocument(document, { rsa }, new Date())
}

/** Posts to the inbox of a node. Returns the status and the body. */
export async function post(
  node: { base: string },
  by: PeerActor,
  activity: JsonObject | string,
  options: PostOptions = {},
): Promise<Posted> {
  const url = `${node.base}${options.inbox ?? '/inbox'}`
  const body = typeof activity === 'string' ? activity : JSON.stringify(activity)
  const signer = options.signer === undefined ? by : options.signer
  const headers = signer === null ? {} : await signedHeaders({ url, body, signer, options })
  for (const name of options.without ?? []) delete headers[name]
  return await sendBytes(url, Buffer.from(options.sentBody ?? body), {
    ...headers,
    'content-type': options.contentType ?? 'application/activity+json',
  })
}

async function signedHeaders(of: { url: string; body: string; signer: PeerActor; options: PostOptions }): Promise<Record<string, string>> {
  const { url, body, signer, options } = of
  const { rsa } = options.key ?? signer.keys
  const keyId = options.keyId ?? signer.keyId
  const now = options.date ?? new Date()
  if (options.profile === 'rfc9421') {
    const key = { keyId, privateKey: await importPrivateKey(rsa.privatePem) }
    const covered = options.more ?? {}
    return await signOutgoing({ method: 'POST', url, body, key, profile: 'rfc9421', now, covered })
  }
  const { host, pathname } = new URL(url)
  const headers: Record<string, string> = {
    host,
    date: now.toUTCString(),
    digest: options.digest ?? `SHA-256=${createHash('sha256').update(body).digest('base64')}`,
    ...options.more,
  }
  const covered = options.covered ?? ['(request-target)', 'host', 'date', 'digest', ...Object.keys(options.more ?? {})]
  const signed = covered.map((name) => (name === '(request-target)' ? `${name}: post ${pathname}` : `${name}: ${headers[name]}`))
  const signature = createSign('sha256').update(signed.join('\n')).sign(rsa.privatePem, 'base64')
  const algorithm = options.algorithm ?? 'rsa-sha256'
  const value = `keyId="${keyId}",algorithm="${algorithm}",headers="${covered.join(' ')}",signature="${signature}"`
  if (options.inAuthorization) headers.authorization = `Signature ${value}`
  else headers.signature = value
  return headers
}

function sendBytes(url: string, body: Buffer, headers: Record<string, string>): Promise<Posted> {
  return new Promise((resolve, reject) => {
    const request = send(url, { method: 'POST', headers: { ...headers, 'content-length': body.length } })
    request.on('error', reject)
    request.on('response', async (response) => {
      let text = ''
      for await (const chunk of response) text += chunk
      resolve({ status: response.statusCode ?? 0, body: text, retryAfter: response.headers['retry-after'] })
    })
    request.end(body)
  })
}
