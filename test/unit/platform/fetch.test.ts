import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createTcpServer } from 'node:net'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from '@jest/globals'
import {
  FetchError,
  type FetchFailure,
  type GuardedFetch,
  type GuardedFetchOptions,
  isPublicAddress,
  makeGuardedFetch,
} from '../../../src/platform/fetch/index.ts'
import { silentLogger } from '../../../src/platform/logger.ts'

const openings: (() => Promise<unknown>)[] = []
afterEach(async () => {
  await Promise.all(openings.splice(0).map((close) => close()))
})

function fetcher(options: Partial<GuardedFetchOptions> = {}): GuardedFetch {
  const made = makeGuardedFetch({
    allowHttp: true,
    allowPrivateAddresses: true,
    timeoutMs: 5000,
    maxRedirects: 5,
    userAgent: 'vireo-test',
    logger: silentLogger,
    ...options,
  })
  openings.push(() => made.close())
  return made
}

type Handler = (request: IncomingMessage & { text: string }, response: ServerResponse) => void

/** A server on loopback; `seen` are the received requests. */
async function serve(handler: Handler, host = '127.0.0.1') {
  const seen: { method: string; url: string; headers: IncomingMessage['headers']; text: string }[] = []
  const server: Server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part)
    const text = Buffer.concat(parts).toString()
    seen.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers, text })
    handler(Object.assign(request, { text }), response)
  })
  let connections = 0
  server.on('connection', () => connections++)
  server.listen(0, host)
  await once(server, 'listening')
  openings.push(async () => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  return { url: `http://${host}:${port}`, port, seen, connections: () => connections }
}

async function failure(work: Promise<unknown>): Promise<FetchFailure | undefined> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  return error instanceof FetchError ? error.reason : undefined
}

describe('an error', () => {
  it.each([
    ['https://user:secret@bucket.example/v.mp4?X-Amz-Signature=secret#secret', 'https://bucket.example/v.mp4'],
    ['ftp://user:secret@files.example/a?secret', 'ftp://files.example/a'],
    ['https://user:secret@/?secret', 'https:///'],
    ['site.example:80', 'site.example:80'],
    ['a torrent', 'a torrent'],
  ])('reveals no secrets of %s', (url, shown) => {
    const error = new FetchError('reset', url, { message: 'the file ended too early' })
    expect(error).toMatchObject({ url: shown, message: `the file ended too early: ${shown}` })
  })

  it('of a failed request is logged without its query', async () => {
    const lines: object[] = []
    const logger = { ...silentLogger, debug: (line: object) => lines.push(line) }
    const http = fetcher({ allowHttp: false, logger: Object.assign(Object.create(silentLogger), logger) })
    await failure(http.fetch('http://site.example/v.mp4?token=secret'))
    expect(lines).toEqual([{ url: 'http://site.example/v.mp4', reason: 'refused-url' }])
  })
})

describe('public addresses', () => {
  it.each(['1.1.1.1', '8.8.8.8', '93.184.216.34', '2606:4700:4700::1111', '2a00:1450:4001::200e'])('%s is public', (address) => {
    expect(isPublicAddress(address)).toBe(true)
  })

  it.each([
    ['this network', '0.0.0.0'],
    ['this network', '0.1.2.3'],
    ['private', '10.0.0.1'],
    ['shared by a carrier', '100.64.0.1'],
    ['loopback', '127.0.0.1'],
    ['loopback', '127.255.255.254'],
    ['link-local, where clouds keep their metadata', '169.254.169.254'],
    ['private', '172.16.0.1'],
    ['protocol assignments', '192.0.0.1'],
    ['documentation', '192.0.2.1'],
    ['6to4 relays', '192.88.99.1'],
    ['private', '192.168.1.1'],
    ['benchmarks', '198.18.0.1'],
    ['documentation', '203.0.113.7'],
    ['multicast', '224.0.0.1'],
    ['reserved', '240.0.0.1'],
    ['broadcast', '255.255.255.255'],
    ['unspecified', '::'],
    ['loopback', '::1'],
    ['mapped', '::ffff:127.0.0.1'],
    ['mapped, also of a public one', '::ffff:8.8.8.8'],
    ['compatible', '::127.0.0.1'],
    ['NAT64', '64:ff9b::7f00:1'],
    ['NAT64 of a local network', '64:ff9b:1::1'],
    ['discarded', '100::1'],
    ['Teredo', '2001:0:4136:e378::1'],
    ['documentation', '2001:db8::1'],
    ['6to4', '2002:7f00:1::1'],
    ['documentation', '3fff:fff::1'],
    ['unique local', 'fc00::1'],
    ['unique local', 'fd12:3456::1'],
    ['link-local', 'fe80::1'],
    ['scoped', 'fe80::1%eth0'],
    ['scoped', '2606:4700::1%1'],
    ['site-local', 'fec0::1'],
    ['multicast', 'ff02::1'],
    ['no address', 'example.com'],
    ['no address', ''],
  ])('%s: %s is not public', (_kind, address) => {
    expect(isPublicAddress(address)).toBe(false)
  })
})

describe('private addresses are refused before a connection', () => {
  it.each([
    (port: number) => `http://127.0.0.1:${port}/`,
    (port: number) => `http://2130706433:${port}/`,
    (port: number) => `http://0x7f000001:${port}/`,
    (port: number) => `http://0177.0.0.1:${port}/`,
    (port: number) => `http://127.1:${port}/`,
    (port: number) => `http://127.0.0.1.:${port}/`,
    (port: number) => `http://0:${port}/`,
    (port: number) => `http://①②⑦.0.0.1:${port}/`,
    (port: number) => `http://[::1]:${port}/`,
    (port: number) => `http://[::]:${port}/`,
    (port: number) => `http://[::ffff:127.0.0.1]:${port}/`,
    (port: number) => `http://[::ffff:7f00:1]:${port}/`,
    (port: number) => `http://[64:ff9b::127.0.0.1]:${port}/`,
    (port: number) => `http://[2002:7f00:1::]:${port}/`,
    (port: number) => `http://localhost:${port}/`,
    (port: number) => `http://localhost.:${port}/`,
  ])('%#', async (form) => {
    const server = await serve((_request, response) => response.end('secret'))
    const guarded = fetcher({ allowPrivateAddresses: false })
    expect(await failure(guarded.fetch(form(server.port)))).toBe('refused-address')
    expect(await failure(guarded.stream(form(server.port)))).toBe('refused-address')
    expect(server.connections()).toBe(0)
  })

  it('a scoped address is not a valid URL', async () => {
    expect(await failure(fetcher({ allowPrivateAddresses: false }).fetch('http://[fe80::1%25eth0]/'))).toBe('refused-url')
  })

  it('a public name with a private address is refused', async () => {
    const server = await serve((_request, response) => response.end('secret'))
    const guarded = fetcher({
      allowPrivateAddresses: false,
      resolve: async () => [{ address: '127.0.0.1', family: 4 }],
    })
    expect(await failure(guarded.fetch(`http://video.example:${server.port}/`))).toBe('refused-address')
    expect(server.connections()).toBe(0)
  })

  it('a name that resolves differently the second time is checked by the connected address', async () => {
    const server = await serve((_request, response) => response.end('secret'))
    const answers = ['127.0.0.1', '127.0.0.2']
    const requested: string[] = []
    const guarded = fetcher({
      isAllowedAddress: (address) => address === '127.0.0.1',
      resolve: async (name) => {
        requested.push(name)
        return [{ address: answers.shift() ?? '127.0.0.2', family: 4 }]
      },
    })
    const url = `http://rebind.example:${server.port}/`
    const close = { headers: { connection: 'close' } }
    // One lookup per connection: there is no second one to poison between the check and the connection.
    expect((await guarded.fetch(url, close)).status).toBe(200)
    expect(requested).toEqual(['rebind.example'])
    expect(await failure(guarded.fetch(url, close))).toBe('refused-address')
    expect(server.seen).toHaveLength(1)
  })

  it('of several addresses only the public ones are tried', async () => {
    const server = await serve((_request, response) => response.end('public'))
    const guarded = fetcher({
      isAllowedAddress: (address) => address === '127.0.0.1',
      resolve: async () => [
        { address: '127.0.0.9', family: 4 },
        { address: '127.0.0.1', family: 4 },
      ],
    })
    const { body } = await guarded.fetch(`http://video.example:${server.port}/`)
    expect(body.toString()).toBe('public')
  })
})

describe('URLs', () => {
  it.each([
    'ftp://video.example/',
    'file:///etc/passwd',
    'data:text/plain,x',
    'gopher://video.example/',
    'javascript:alert(1)',
    'https://user@video.example/',
    'https://user:password@video.example/',
    '//video.example/',
    'video.example',
    '',
    `https://video.example/${'a'.repeat(2000)}`,
  ])('an invalid URL is refused (%#)', async (url) => {
    expect(await failure(fetcher().fetch(url))).toBe('refused-url')
  })

  it('plain http is refused unless it is allowed', async () => {
    const server = await serve((_request, response) => response.end())
    expect(await failure(fetcher({ allowHttp: false }).fetch(server.url))).toBe('refused-url')
    expect((await fetcher().fetch(server.url)).status).toBe(200)
  })
})

describe('redirects', () => {
  it('are followed, and the final URL is returned', async () => {
    const server = await serve((request, response) => {
      if (request.url === '/a') response.writeHead(301, { location: '/b' }).end('moved')
      else response.end('here')
    })
    const { status, body, url } = await fetcher().fetch(`${server.url}/a`)
    expect({ status, body: body.toString(), url }).toEqual({ status: 200, body: 'here', url: `${server.url}/b` })
  })

  it('from a public to a private address are refused', async () => {
    const secret = await serve((_request, response) => response.end('secret'), '127.0.0.2')
    const server = await serve((_request, response) => {
      response.writeHead(302, { location: secret.url }).end()
    })
    const guarded = fetcher({ isAllowedAddress: (address) => address === '127.0.0.1' })
    expect(await failure(guarded.fetch(server.url))).toBe('refused-address')
    expect(secret.connections()).toBe(0)
  })

  it.each(['file:///etc/passwd', 'data:text/plain,x', 'ftp://127.0.0.1/', 'http://user:password@127.0.0.1/', 'http://[broken'])(
    'to %s are refused',
    async (location) => {
      const server = await serve((_request, response) => response.writeHead(302, { location }).end())
      expect(await failure(fetcher().fetch(server.url))).toBe('redirect')
    },
  )

  it('stop after five', async () => {
    const server = await serve((request, response) => {
      response.writeHead(302, { location: `/${Number(request.url?.slice(1) || 0) + 1}` }).end()
    })
    expect(await failure(fetcher().fetch(`${server.url}/0`))).toBe('redirect')
    expect(server.seen).toHaveLength(6)
  })

  it('to itself, and in a circle, stop at once', async () => {
    const server = await serve((request, response) => {
      const location = request.url === '/self' ? '/self' : request.url === '/a' ? '/b' : '/a'
      response.writeHead(302, { location }).end()
    })
    expect(await failure(fetcher().fetch(`${server.url}/self`))).toBe('redirect')
    expect(await failure(fetcher().fetch(`${server.url}/a`))).toBe('redirect')
    expect(server.seen).toHaveLength(3)
  })

  it('of a POST are returned to the caller by default', async () => {
    const server = await serve((request, response) => {
      if (request.url === '/keep') response.writeHead(308, { location: '/end' }).end()
      else if (request.url === '/see') response.writeHead(303, { location: '/end' }).end()
      else response.end()
    })
    const post = { method: 'POST', body: 'x', headers: { 'Content-Type': 'text/plain' } }
    expect((await fetcher().fetch(`${server.url}/keep`, post)).status).toBe(308)
    await fetcher().fetch(`${server.url}/keep`, { ...post, redirect: 'follow' })
    await fetcher().fetch(`${server.url}/see`, { ...post, redirect: 'follow' })
    expect(server.seen.map(({ method, url, text }) => `${method} ${url} ${text}`.trim())).toEqual([
      'POST /keep x',
      'POST /keep x',
      'POST /end x',
      'POST /see x',
      'GET /end',
    ])
  })

  it('drop signatures and credentials, and can be signed again', async () => {
    const server = await serve((request, response) => {
      if (request.url === '/a') response.writeHead(302, { location: '/b' }).end()
      else response.end()
    })
    const headers = { Signature: 'old', Authorization: 'secret', Accept: 'application/activity+json' }
    await fetcher().fetch(`${server.url}/a`, { headers })
    await fetcher().fetch(`${server.url}/a`, {
      headers,
      onRedirect: ({ url, method }) => ({ Signature: `${method} ${new URL(url).pathname}` }),
    })
    const [, first, , second] = server.seen
    expect(first?.headers).toMatchObject({ accept: 'application/activity+json' })
    expect(first?.headers.signature).toBeUndefined()
    expect(first?.headers.authorization).toBeUndefined()
    expect(second?.headers.signature).toBe('GET /b')
  })
})

describe('sizes', () => {
  const megabytes = (count: number) => Buffer.alloc(count * 1024 * 1024)

  it('a body over the limit is aborted', async () => {
    const server = await serve((_request, response) => response.end(Buffer.alloc(5000)))
    expect(await failure(fetcher().fetch(server.url, { maxBytes: 4999 }))).toBe('too-large')
    expect((await fetcher().fetch(server.url, { maxBytes: 5000 })).body).toHaveLength(5000)
  })

  it('an endless body is aborted', async () => {
    const server = await serve((_request, response) => {
      const more = () => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536)));
        response.once('drain', more)
      }
      more()
    })
    expect(await failure(fetcher().fetch(server.url))).toBe('too-large')
  })

  it.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
  ])('a %s bomb is aborted after the decompressed limit', async (encoding, compress) => {
    const bomb = compress(megabytes(50))
    expect(bomb.length).toBeLessThan(100_000)
    const server = await serve((_request, response) => {
      response.writeHead(200, { 'content-encoding': encoding }).end(bomb)
    })
    expect(await failure(fetcher().fetch(server.url, { maxBytes: 1_000_000 }))).toBe('too-large')
  })

  it('a compressed body is decoded', async () => {
    const server = await serve((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'GZIP' }).end(gzipSync('hello'))
    })
    expect((await fetcher().fetch(server.url)).body.toString()).toBe('hello')
    expect(server.seen[0]?.headers['accept-encoding']).toBe('gzip, deflate, br')
  })

  it.each(['compress', 'gzip, gzip', 'zstd'])('the encoding %s is refused', async (encoding) => {
    const server = await serve((_request, response) => {
      response.writeHead(200, { 'content-encoding': encoding }).end(gzipSync('x'))
    })
    expect(await failure(fetcher().fetch(server.url))).toBe('protocol')
  })

  it('invalid compressed data is a protocol error', async () => {
    const server = await serve((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end('no gzip')
    })
    expect(await failure(fetcher().fetch(server.url))).toBe('protocol')
  })
})

describe('timeouts', () => {
  it('a server that never answers times out', async () => {
    const server = await serve(() => {})
    expect(await failure(fetcher().fetch(server.url, { timeoutMs: 50 }))).toBe('timeout')
  })

  it('a slow body times out, even without a long pause', async () => {
    const server = await serve((_request, response) => {
      response.writeHead(200)
      const drip = setInterval(() => response.write('.'), 5)
      response.once('close', () => clearInterval(drip))
    })
    expect(await failure(fetcher().fetch(server.url, { timeoutMs: 100 }))).toBe('timeout')
  })

  it('the caller can abort', async () => {
    const server = await serve(() => {})
    const abort = new AbortController()
    const answer = failure(fetcher().fetch(server.url, { signal: abort.signal }))
    abort.abort()
    expect(await answer).toBe('aborted')
    expect(await failure(fetcher().fetch(server.url, { signal: AbortSignal.abort() }))).toBe('aborted')
  })
})

describe('errors have a reason', () => {
  it('an unresolvable name', async () => {
    const resolve = async () => {
      throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' })
    }
    expect(await failure(fetcher({ resolve }).fetch('http://nowhere.example/'))).toBe('dns')
  })

  it('a port without a listener', async () => {
    const server = createTcpServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    const port = typeof address === 'object' && address ? address.port : 0
    server.close()
    await once(server, 'close')
    expect(await failure(fetcher().fetch(`http://127.0.0.1:${port}/`))).toBe('refused')
  })

  it.each([
    ['reset', (): string | undefined => undefined],
    ['protocol', (): string | undefined => 'this is not HTTP\r\n\r\n'],
  ])('%s', async (reason, answer) => {
    const server = createTcpServer((socket) => {
      socket.on('error', () => {})
      socket.once('data', () => {
        const said = answer()
        if (said === undefined) socket.resetAndDestroy()
        else socket.end(said)
      })
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    openings.push(async () => server.close())
    const address = server.address()
    const port = typeof address === 'object' && address ? address.port : 0
    expect(await failure(fetcher().fetch(`http://127.0.0.1:${port}/`))).toBe(reason)
  })

  it('a plain connection where TLS is expected', async () => {
    const server = await serve((_request, response) => response.end())
    expect(await failure(fetcher().fetch(server.url.replace('http:', 'https:')))).toBe('tls')
  })

  it('an error status is a response', async () => {
    const server = await serve((_request, response) => response.writeHead(503, { 'retry-after': '120' }).end('later'))
    const { status, headers, body } = await fetcher().fetch(server.url)
    expect({ status, after: headers['retry-after'], body: body.toString() }).toEqual({
      status: 503,
      after: '120',
      body: 'later',
    })
  })

  it('nothing is sent after it is closed', async () => {
    const server = await serve((_request, response) => response.end())
    const guarded = fetcher()
    await guarded.close()
    expect(await failure(guarded.fetch(server.url))).toBe('aborted')
    expect(server.connections()).toBe(0)
  })
})

describe('streams', () => {
  it('return the body as it arrives', async () => {
    const server = await serve((_request, response) => response.end('a file'))
    const { status, headers, body } = await fetcher().stream(server.url)
    const parts: Buffer[] = []
    for await (const part of body) parts.push(part)
    expect({ status, length: headers['content-length'], text: Buffer.concat(parts).toString() }).toEqual({
      status: 200,
      length: '6',
      text: 'a file',
    })
  })

  it('fail with a reason during the read', async () => {
    const server = await serve((_request, response) => {
      response.writeHead(200)
      response.write('a start')
    })
    // Enough time for the headers on a busy machine.
    const { body } = await fetcher().stream(server.url, { timeoutMs: 1000 })
    const read = async () => {
      for await (const part of body) expect(part).toBeDefined()
    }
    expect(await failure(read())).toBe('timeout')
  })

  it('can be cancelled before their end', async () => {
    const server = await serve((_request, response) => {
      response.writeHead(200)
      response.write('a start')
      response.once('close', () => response.end())
    })
    const { body } = await fetcher().stream(server.url)
    body.destroy()
    await once(body, 'close')
    expect(body.destroyed).toBe(true)
  })
})
