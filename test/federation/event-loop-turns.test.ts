// Untrusted input never blocks the event loop: the longest turn for hostile input through every entry point.

import { readFile } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { longestTurnOf, MAX_TURN_MS } from '../support/event-loop-turns.ts'
import { type FakePeer, type JsonObject, type PeerActor, post, startFakePeer } from '../support/fake-peer.ts'
import { media } from '../support/media.ts'
import { type FederatedNode, introduce, startFederatedNode } from './support.ts'

let node: FederatedNode
let peer: FakePeer
let alice: { account: PeerActor; channel: PeerActor }
let video: { url: string; uuid: string }
const agent = new Agent({ keepAlive: true })

beforeAll(async () => {
  // As in production: validating a response takes longer than making it.
  const uncached = { vireo: { caching: { routes: { videos: 0 } } } }
  ;[node, peer] = await Promise.all([startFederatedNode(uncached, { checkResponses: false }), startFakePeer()])
  alice = await introduce(node, peer, 'alice')
  video = await node.upload(await readFile(await media('small.mp4')))
})
afterAll(async () => {
  agent.destroy()
  await Promise.all([peer?.close(), node?.stop()])
})

/** Sends prepared bytes, so that the client side computes little. */
async function send(
  method: string,
  path: string,
  { body, headers = {} }: { body?: Buffer; headers?: Record<string, string> } = {},
): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const sent = request(`${node.base}${path}`, { method, agent, headers, maxHeaderSize: 65_536 }, (answer) => {
    answer.resume().once('end', () => resolve(answer.statusCode ?? 0))
  })
  sent.once('error', reject).end(body)
  return await promise
}

/** The inputs whose best run exceeded the limit. */
async function slowOf(inputs: Iterable<[string, () => Promise<unknown>]>): Promise<string[]> {
  const slow: string[] = []
  for (const [name, work] of inputs) {
    const longest = await longestTurnOf(async () => void (await work())).catch((error: unknown) => {
      throw new Error(`${name}: ${error}`, { cause: error })
    })
    if (longest >= MAX_TURN_MS) slow.push(`${name}: ${Math.round(longest)} ms`)
  }
  return slow
}

const filled = (piece: string, length: number): string => piece.repeat(Math.ceil(length / piece.length)).slice(0, length)
const many = <T>(count: number, make: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at))

/** Worst cases for HTML and Markdown parsers, and for regular expressions. */
const PIECES = [
  '<',
  '<a ',
  '<a href="',
  '<a href="https://a.example/">b</a>',
  '<b>',
  '</p ',
  '<br',
  '&',
  '&#',
  '<!--',
  '<script>',
  '[',
  '![',
  '](',
  '[a](',
  '**a',
  '__a ',
  '*a',
  '`',
  '```\n',
  '> ',
  '- ',
  '  - ',
  '1. ',
  '# ',
  '|a',
  '[a]: ',
  '@a',
  '@a@b.example ',
  '#a',
  '//a.',
  'https://',
  'https://a.b/',
  '<https://',
  '1:',
  '00:00 ',
  ' ',
  '\n',
  '\t',
  'a\u0300',
  '\u200b',
  '\ufdfa',
  '\u{1d49c}',
  '\\',
  '"',
  '\0',
  '\ud800',
]

const json = (value: unknown): Buffer => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value))
const MEGABYTE = 1024 * 1024 - 1

/** Bodies of a megabyte that are not activities. */
function* shapes(): Generator<[string, Buffer]> {
  yield ['deep arrays', json(filled('[', MEGABYTE))]
  yield ['deep objects', json(filled('{"a":', MEGABYTE))]
  yield ['quotes', json(filled('"', MEGABYTE))]
  yield ['escaped quotes', json(`{"a":"${filled('\\"', MEGABYTE - 8)}"}`)]
  yield ['zeros', json(`{"a":"${filled('\\u0000', 1_000_002)}"}`)]
  yield ['escapes and zeros', json(`{"a":"${filled('\\n\\u0000', 1_000_000)}"}`)]
  yield ['a long text', json({ a: filled('x', MEGABYTE - 8) })]
  yield ['many keys', json(Object.fromEntries(many(9_500, (at) => [`key-${at}-${filled('x', 85)}`, at])))]
  yield ['many items', json({ items: many(9_950, (at) => `item-${at}-${filled('x', 85)}`) })]
  yield ['many objects', json({ items: many(4_950, (at) => ({ id: `https://a.example/${at}` })) })]
  yield ['more than is read', json({ items: many(100_000, (at) => at) })]
  yield ['blanks', json(filled(' ', MEGABYTE))]
  yield ['no UTF-8', Buffer.alloc(MEGABYTE, 0xc0)]
  yield ['long keys', json({ [filled('k', MEGABYTE / 2 - 8)]: 1, [filled('l', MEGABYTE / 2 - 8)]: 2 })]
}

/** Comments and videos of a known server. */
function* statements(): Generator<[string, JsonObject]> {
  const { account } = alice
  const note = (more: JsonObject) => peer.activity(account, 'Create', peer.note({ author: account.url, inReplyTo: video.url, more }))
  for (const mediaType of ['text/html', 'text/markdown']) {
    for (const piece of PIECES) {
      yield [`${mediaType} of ${JSON.stringify(piece)}`, note({ mediaType, content: filled(piece, 100_000) })]
    }
  }
  const to = many(5_000, (at) => `https://a.example/users/${at}`)
  yield ['many addressees', note({ to, cc: to.slice(0, 2_000) })]
  yield ['many mentions', note({ tag: many(2_500, (at) => ({ type: 'Mention', href: `${peer.base}/${at}`, name: '@a' })) })]
  yield ['long addresses', note({ to: many(100, (at) => `https://a.example/${at}/${filled('a', 1_900)}`) })]
  yield ['many languages', note({ contentMap: Object.fromEntries(many(5_000, (at) => [`l${at}`, 'words'])) })]
  yield ['a large context', { ...note({}), '@context': many(5_000, (at) => ({ [`t${at}`]: `https://a.example/${at}` })) }]
  yield [
    'a report of many things',
    peer.activity(
      account,
      'Flag',
      many(5_000, (at) => `${node.base}/videos/watch/${at}`),
    ),
  ]
  yield ['a deep object', note({ tag: many(1, () => nested(15)) })]
}

const nested = (levels: number): unknown => (levels === 0 ? 'end' : [nested(levels - 1)])

it('a body of a megabyte in an inbox', async () => {
  const headers = { 'content-type': 'application/activity+json' }
  const inputs = [...shapes()].map(([name, body]): [string, () => Promise<unknown>] => [
    name,
    () => send('POST', '/inbox', { body, headers }),
  ])
  expect(await slowOf(inputs)).toEqual([])
})

it('a collection with the maximum number of activities', async () => {
  const signature = {
    type: 'RsaSignature2017',
    creator: alice.account.keyId,
    created: new Date().toISOString(),
    signatureValue: 'AAAA',
  }
  const items = many(500, () => ({ ...peer.activity(alice.account, 'Like', video.url), signature }))
  const body = json({ type: 'OrderedCollection', orderedItems: items })
  const headers = { 'content-type': 'application/activity+json' }
  expect(await slowOf([['500 likes', () => send('POST', '/inbox', { body, headers })]])).toEqual([])
})

it('activities of a known server', async () => {
  const slow = await slowOf(
    [...statements()].map(([name, activity]): [string, () => Promise<unknown>] => [
      name,
      async () => {
        const id = peer.id()
        const object = activity.object as JsonObject
        const fresh = {
          ...activity,
          id,
          object: typeof object.id === 'string' ? { ...object, id: `${id}/object` } : object,
        }
        await post(node, alice.account, fresh)
        await node.settled()
      },
    ]),
  )
  expect(slow).toEqual([])
})

it('pages and feeds with hostile texts', async () => {
  const { account, channel } = alice
  const slow: string[] = []
  for (const piece of ['![', '__a ', '[', '<', '@a@b.example ', '**a', '> ']) {
    const content = filled(piece, 10_000)
    const comments = many(30, () => peer.activity(account, 'Create', peer.note({ author: account.url, inReplyTo: video.url, content })))
    const videos = many(30, () =>
      peer.activity(
        account,
        'Create',
        peer.video({ account, channel, more: { content, support: filled(piece, 1_000), name: filled(piece, 120) } }),
      ),
    )
    for (const activity of [...comments, ...videos]) await post(node, account, activity)
    await node.settled()
    const pages = [
      `/w/${video.uuid}`,
      '/',
      '/feeds/videos.xml',
      '/feeds/videos.json',
      '/feeds/video-comments.atom',
      '/feeds/podcast/videos.xml?videoChannelId=1',
      '/api/v1/videos?count=100',
      `/api/v1/videos/${video.uuid}/comment-threads?count=100`,
      '/search?search=a',
      `/c/alice_channel@${peer.host}`,
    ]
    slow.push(
      ...(await slowOf(
        pages.map((path): [string, () => Promise<unknown>] => [`${path} with ${JSON.stringify(piece)}`, () => send('GET', path)]),
      )),
    )
  }
  expect(slow).toEqual([])
})

it('headers, queries and forms', async () => {
  function* inputs(): Generator<[string, () => Promise<unknown>]> {
    for (const piece of [
      ...PIECES.filter((one) => /^[ -~]+$/.test(one)),
      'keyid="',
      'keyId="a',
      'a=1,',
      'a="',
      '(',
      ',',
      'sha-256=:',
      ':a:,',
      '%00',
      '%',
      '%25',
      '+',
      '[]=',
      '.',
      '-',
      '1',
      '\\"',
    ]) {
      const value = filled(piece, 12_000)
      const text = encodeURIComponent(filled(piece, 4_000)).slice(0, 10_000)
      const headers = { 'content-type': 'application/activity+json', signature: value }
      const name = JSON.stringify(piece)
      yield [`signature ${name}`, () => send('POST', '/inbox', { body: json('{}'), headers })]
      yield [
        `signature-input ${name}`,
        () =>
          send('POST', '/inbox', {
            body: json('{}'),
            headers: { ...headers, signature: 'a=:AAAA:', 'signature-input': value },
          }),
      ]
      yield [
        `a read with signature ${name}`,
        () => send('GET', '/accounts/root', { headers: { accept: 'application/activity+json', signature: value } }),
      ]
      for (const header of [
        'accept',
        'accept-language',
        'range',
        'if-none-match',
        'cookie',
        'authorization',
        'digest',
        'content-type',
        'x-forwarded-for',
        'user-agent',
      ]) {
        yield [`${header} ${name}`, () => send('GET', '/w/nothing', { headers: { [header]: value } })]
      }
      for (const path of [
        '/.well-known/webfinger?resource=',
        '/services/oembed?url=',
        '/api/v1/search/videos?search=',
        '/api/v1/search/video-channels?search=',
        '/api/v1/videos?sort=',
        '/api/v1/videos?host=',
        '/search?search=',
        '/feeds/videos.xml?videoChannelName=',
        '/remote-interaction?uri=',
        '/tracker/announce?info_hash=',
        '/',
      ]) {
        yield [`${path} ${name}`, () => send('GET', `${path}${text}`)]
      }
    }
    const list = many(1_500, (at) => `tagsOneOf=${at}`).join('&')
    for (const path of ['/api/v1/videos?', '/api/v1/search/videos?', '/feeds/videos.xml?', '/.well-known/webfinger?']) {
      yield [`${path} with a long list`, () => send('GET', `${path}${list}`)]
      yield [`${path} with many names`, () => send('GET', `${path}${many(3_000, (at) => `a${at}`).join('&')}`)]
    }
    for (const path of [
      '/api/v1/users/token',
      '/api/v1/users/register',
      '/api/v1/server/contact',
      '/api/v1/users/ask-reset-password',
      `/api/v1/videos/${video.uuid}/views`,
      '/api/v1/server/logs/client',
      '/api/v1/metrics/playback',
      '/login',
      '/api/v1/users/registrations/request',
    ]) {
      for (const [type, body] of [
        ['application/json', json(`{"a":${filled('[', 499_000)}`)],
        ['application/json', json(Object.fromEntries(many(9_000, (at) => [`k${at}`, at])))],
        ['application/json', json({ username: filled('a@', 450_000), email: filled('a@', 450_000).slice(0, 9), message: '' })],
        ['application/x-www-form-urlencoded', json(filled('a[b]=1&', 499_000))],
        ['application/x-www-form-urlencoded', json(filled('%25', 499_000))],
        ['application/x-www-form-urlencoded', json(many(9_000, (at) => `a${at}=1`).join('&'))],
        ['multipart/form-data; boundary=a', json(filled('--a\r\ncontent-disposition: form-data; name="a"\r\n\r\nb\r\n', 499_000))],
      ] as const) {
        yield [`${path} ${type} ${body.subarray(0, 20)}`, () => send('POST', path, { body, headers: { 'content-type': type } })]
      }
    }
  }
  expect(await slowOf(inputs())).toEqual([])
})

it('fetched documents', async () => {
  peer.fetched.length = 0
  const { account, channel } = alice
  const tag = many(20_000, (at) => ({ type: 'Hashtag', name: `#tag${at}` }))
  const links = many(4_000, (at) => ({
    type: 'Link',
    mediaType: 'video/mp4',
    href: `${peer.base}/${at}.mp4`,
    height: at,
    size: 1000,
    fps: 25,
  }))
  const videos: [string, JsonObject][] = [
    ['many tags', { tag }],
    ['many files', { url: links }],
    ['many captions', { subtitleLanguage: many(9_000, (at) => ({ identifier: `l${at}`, name: 'a', url: `${peer.base}/${at}.vtt` })) }],
    ['many chapters', { content: filled('0:01 a\n', 10_000) }],
    ['many owners', { attributedTo: many(9_000, (at) => ({ type: 'Person', id: `${peer.base}/accounts/${at}` })) }],
    ['many pictures', { icon: many(9_000, (at) => ({ type: 'Image', url: `${peer.base}/${at}.jpg`, width: at, height: at })) }],
    ['a deep list', { url: nested(500) }],
    ['a long name', { name: filled('a', 900_000) }],
  ]
  const inputs = videos.map(([name, more]): [string, () => Promise<unknown>] => [
    name,
    async () => {
      const { id } = peer.video({ account, channel, more })
      const raw = JSON.stringify({ ...peer.video({ account, channel, more }), id })
      peer.serve(id, () => ({ raw }))
      await node.client.get(`/api/v1/search/videos?search=${encodeURIComponent(id)}`)
    },
  ])
  for (const [name, body] of shapes()) {
    inputs.push([
      name,
      async () => {
        const id = peer.id('videos/watch')
        peer.serve(id, () => ({ raw: body }))
        await node.client.get(`/api/v1/search/videos?search=${encodeURIComponent(id)}`)
      },
    ])
  }
  expect(await slowOf(inputs)).toEqual([])
  expect(peer.fetched.length).toBeGreaterThanOrEqual(inputs.length)
})
