// The server on its socket: start, streamed bodies, broken clients, and shutdown.

import { Agent, createServer as createHttpServer, get, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { buffer, text } from 'node:stream/consumers'
import { afterEach, describe, expect, it } from '@jest/globals'
import Fastify, { type FastifyReply } from 'fastify'
import type { App } from '../../../src/http/app.ts'
import { addBodyDeadline, endSilence } from '../../../src/http/plugins/slow-bodies.ts'
import { ListenError, type Listening, listen } from '../../../src/http/server.ts'
import { makeLogger } from '../../../src/platform/logger.ts'
import { slowness } from '../../support/cpu-time.ts'
import { until } from '../../support/until.ts'
import { type FrameOptions, makeFrame } from './frame.ts'

const servers: Listening[] = []
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()))
})

async function start(options: FrameOptions = {}): Promise<Listening> {
  const server = await listen(await makeFrame(options), { hostname: '127.0.0.1', port: 0 })
  servers.push(server)
  return server
}

const ask = (port: number, path: string, agent?: Agent): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    get({ port, host: '127.0.0.1', path, ...(agent ? { agent } : {}) }, resolve).on('error', reject)
  })

const speak = async (port: number, bytes: string): Promise<string> => {
  const socket = connect(port, '127.0.0.1')
  socket.end(bytes)
  return text(socket)
}

describe('a start', () => {
  it('on a port in use reports it in one line', async () => {
    const other = createServer()
    const port = await new Promise<number>((resolve) => {
      other.listen(0, '127.0.0.1', () => {
        const address = other.address()
        resolve(typeof address === 'object' && address ? address.port : 0)
      })
    })
    const app = await makeFrame()
    const refused = listen(app, { hostname: '127.0.0.1', port })
    await expect(refused).rejects.toBeInstanceOf(ListenError)
    await expect(refused).rejects.toThrow(
      `Cannot listen on 127.0.0.1:${port}: another program uses this port. Stop it, or set \`listen.port\`.`,
    )
    await app.close()
    other.close()
  })

  it('on an address of another machine reports it', async () => {
    const app = await makeFrame()
    await expect(listen(app, { hostname: '192.0.2.1', port: 0 })).rejects.toThrow(/no such address.*listen\.hostname/)
    await app.close()
  })
})

describe('a shutdown', () => {
  const slow = () => {
    const gates: (() => void)[] = []
    const started: (() => void)[] = []
    const add = (app: App) => {
      app.get('/api/v1/slow', async () => {
        for (const tell of started.splice(0)) tell()
        await new Promise<void>((resolve) => gates.push(resolve))
        return { done: true }
      })
    }
    return {
      add,
      running: new Promise<void>((resolve) => started.push(resolve)),
      open: () => {
        for (const gate of gates) gate()
      },
    }
  }

  it('closes idle connections at once', async () => {
    const server = await start()
    const agent = new Agent({ keepAlive: true })
    await text(await ask(server.port, '/api/v1/none', agent))
    const before = performance.now()
    await server.close()
    expect(performance.now() - before).toBeLessThan(2000 * slowness())
    agent.destroy()
  })

  it('completes running requests, and sends Connection: close', async () => {
    const { add, running, open } = slow()
    const server = await start({ add })
    const agent = new Agent({ keepAlive: true })
    const answer = ask(server.port, '/api/v1/slow', agent)
    await running
    const closed = server.close()
    setImmediate(open)
    const response = await answer
    expect(response.statusCode).toBe(200)
    expect(response.headers.connection).toBe('close')
    expect(JSON.parse(await text(response))).toEqual({ done: true })
    await closed
    await expect(ask(server.port, '/api/v1/none')).rejects.toThrow('ECONNREFUSED')
    agent.destroy()
  })

  it('aborts requests that exceed the time limit', async () => {
    const { add, running } = slow()
    const server = await start({ add, config: { vireo: { runtime: { drain_timeout: '100 ms' } } } })
    const answer = ask(server.port, '/api/v1/slow')
    await running
    const [outcome] = await Promise.allSettled([answer, server.close()])
    expect(outcome.status).toBe('rejected')
  })
})

describe('an Upgrade request', () => {
  const offering = (request: string, upgrade: string, ...more: string[]): string =>
    [`${request} HTTP/1.1`, 'host: x', `upgrade: ${upgrade}`, 'connection: Upgrade', ...more, '', ''].join('\r\n')

  it('that no route handles is answered, and the connection ends, with or without a close by the client', async () => {
    const server = await start()
    const sockets = ['/api/v1/none', '/nowhere'].map((path) => {
      const socket = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true })
      socket.write(offering(`GET ${path}`, 'websocket'))
      return { socket, said: text(socket) }
    })
    const said = await Promise.all(sockets.map((one) => one.said))
    expect(said.map((answer) => answer.slice(0, 12))).toEqual(['HTTP/1.1 200', 'HTTP/1.1 404'])
    await server.close()
    for (const { socket } of sockets) socket.destroy()
  })

  it('that is not answered yet does not delay the shutdown', async () => {
    const requested = Promise.withResolvers<void>()
    const add = (app: App) => {
      app.get('/api/v1/never', () => {
        requested.resolve()
        return new Promise(() => {})
      })
    }
    const server = await start({ add })
    const socket = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true })
    const said = text(socket)
    socket.write(offering('GET /api/v1/never', 'websocket'))
    await requested.promise
    await server.close()
    expect(await said).toBe('')
    socket.destroy()
  })

  it('to HTTP/2 is answered as a plain request, with its body', async () => {
    const add = (app: App) => {
      app.post('/api/v1/told', async (request) => request.body)
    }
    const server = await start({ add })
    const fields = ['content-type: application/json', 'content-length: 11', 'http2-settings: AAEAAEAA']
    const told = offering('POST /api/v1/told', 'h2c', ...fields)
    expect(await speak(server.port, `${told}{"a":"hay"}`)).toMatch(/^HTTP\/1\.1 200 .*\{"a":"hay"\}$/s)
    expect(await speak(server.port, offering('GET /api/v1/none', 'h2c'))).toMatch(/^HTTP\/1\.1 200 .*keep-alive/s)
  })
})

describe('a body that the route reads as a stream', () => {
  const add = (app: App) => {
    app.put('/api/v1/stream', { config: { body: 'stream' } }, async (request) => {
      if (!(request.body instanceof Readable)) return { bytes: -1 }
      return { bytes: (await buffer(request.body)).length }
    })
    app.post('/inbox', { config: { body: 'raw' }, bodyLimit: 1000 }, async (request) => ({
      raw: Buffer.isBuffer(request.body) ? request.body.toString() : typeof request.body,
    }))
  }

  it.each(['application/octet-stream', 'application/json', 'application/x-www-form-urlencoded', 'video/mp4', 'nonsense', ''])(
    'has any length and content type: %s',
    async (type) => {
      const server = await start({ add })
      const response = await fetch(`http://127.0.0.1:${server.port}/api/v1/stream`, {
        method: 'PUT',
        headers: type ? { 'content-type': type } : {},
        body: new Uint8Array(3_000_000),
      })
      expect(await response.json()).toEqual({ bytes: 3_000_000 })
    },
  )

  it.each(['application/activity+json', 'application/ld+json; profile="https://www.w3.org/ns/activitystreams"', 'text/plain'])(
    'is passed byte by byte: %s',
    async (type) => {
      const server = await start({ add })
      const post = (body: string) =>
        fetch(`http://127.0.0.1:${server.port}/inbox`, { method: 'POST', headers: { 'content-type': type }, body })
      expect(await (await post('{ "a" :1 }')).json()).toEqual({ raw: '{ "a" :1 }' })
      expect((await post('x'.repeat(1001))).status).toBe(413)
    },
  )
})

describe('a slow body', () => {
  const add = (app: App) => {
    app.put('/api/v1/stream', { config: { body: 'stream' } }, async (request) => ({
      bytes: request.body instanceof Readable ? (await buffer(request.body)).length : -1,
    }))
  }
  const head = (path: string, type: string) =>
    `PUT /api/v1/${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: ${type}\r\nContent-Length: 3\r\n\r\n`

  it('is aborted, unless a route reads it as a stream', async () => {
    const server = await start({ add, config: { vireo: { uploads: { legacy_timeout: '300 ms' } } } })
    const streamed = connect(server.port, '127.0.0.1')
    streamed.write(`${head('stream', 'application/octet-stream')}a`)
    const parsed = connect(server.port, '127.0.0.1')
    parsed.write(`${head('none', 'application/json')}1`)
    const refusal = await text(parsed)
    expect(refusal).toMatch(/^HTTP\/1\.1 408 /)
    expect(refusal).toContain('"detail":"The request took too long to arrive."')
    streamed.write('bc')
    expect(await text(streamed)).toMatch(/^HTTP\/1\.1 200 .*\{"bytes":3\}$/s)
  })

  it('is aborted when it stalls, but not once it is complete', async () => {
    const ends: string[] = []
    const server = createHttpServer((request) => {
      endSilence(request, 100)
      buffer(request).then(
        () => ends.push('whole'),
        (error: Error) => ends.push(error.message),
      )
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const whole = connect(port, '127.0.0.1')
    whole.write(`${head('stream', 'application/octet-stream')}abc`)
    const silent = connect(port, '127.0.0.1')
    silent.write(`${head('stream', 'application/octet-stream')}a`)
    expect(await text(silent)).toBe('')
    expect(ends).toEqual(['whole', 'The body took too long to arrive.'])
    expect(whole.destroyed).toBe(false)
    whole.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
})

describe('a body with a low rate', () => {
  const pace = { graceMs: 300, windowMs: 300, bytesPerSecond: 100, perAddress: 2 }

  async function startPaced(): Promise<number> {
    const app = Fastify() as unknown as App
    addBodyDeadline(app, { longestMs: 60_000, pace })
    app.post('/inbox', async () => ({ is: 'taken' }))
    const onRequest = async (_request: unknown, reply: FastifyReply) => reply.code(401).send({ is: 'refused' })
    app.post('/refused', { onRequest }, async () => {})
    app.post('/refused-upload', { onRequest, config: { body: 'stream' } }, async () => {})
    const slow = Promise.withResolvers<void>()
    app.post('/slow', async () => {
      setTimeout(slow.resolve, 4 * pace.windowMs)
      await slow.promise
      return { is: 'taken' }
    })
    const server = await listen(app, { hostname: '127.0.0.1', port: 0 })
    servers.push(server)
    return server.port
  }

  /** Sends a body at this many bytes per 20 ms; resolves to the response when the connection is closed. */
  function post(port: number, path: string, { length, piece }: { length: number; piece: number }) {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => undefined)
    const body = `"${'x'.repeat(length - 2)}"`
    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`,
    )
    let sent = 0
    const timer = setInterval(() => {
      if (sent < length && socket.writable) socket.write(body.slice(sent, sent + piece))
      sent += piece
    }, 20)
    return said(socket).finally(() => clearInterval(timer))
  }

  async function said(socket: Socket): Promise<string> {
    let answer = ''
    for await (const chunk of socket.setEncoding('utf8').iterator({ destroyOnReturn: true })) answer += chunk
    return answer
  }

  it('is aborted below the minimum rate', async () => {
    const port = await startPaced()
    expect(await post(port, '/inbox', { length: 1000, piece: 1 })).toMatch(/^HTTP\/1\.1 408 .*"status":408/s)
    // A connection with a response is not kept open for the rest of a body either.
    expect(await post(port, '/refused', { length: 1000, piece: 1 })).toMatch(/^HTTP\/1\.1 401 /)
    // An upload may pause longer, until it is refused.
    expect(await post(port, '/refused-upload', { length: 1000, piece: 1 })).toMatch(/^HTTP\/1\.1 401 /)
  })

  it('is accepted at the minimum rate, however long it takes', async () => {
    const port = await startPaced()
    expect(await post(port, '/inbox', { length: 1200, piece: 20 })).toMatch(/^HTTP\/1\.1 200 .*"taken"/s)
  })

  it('is not aborted while the server works', async () => {
    const port = await startPaced()
    expect(await post(port, '/slow', { length: 10, piece: 10 })).toMatch(/^HTTP\/1\.1 200 .*"taken"/s)
  })

  it('is aborted when other slow bodies come from the same address', async () => {
    const port = await startPaced()
    const answers = await Promise.all(Array.from({ length: 4 }, () => post(port, '/inbox', { length: 1200, piece: 20 })))
    expect(answers.map((answer) => answer.slice(9, 12)).sort()).toEqual(['200', '200', '408', '408'])
    // They no longer count once they end.
    expect(await post(port, '/inbox', { length: 1200, piece: 20 })).toMatch(/^HTTP\/1\.1 200 /)
  })

  it('has a header timeout that is checked every few seconds', async () => {
    const app = await makeFrame()
    expect(app.server.headersTimeout).toBe(20_000)
    await app.close()
  })
})

describe('a broken client', () => {
  it.each([
    ['no HTTP', 'hello\r\n\r\n', 400],
    ['headers without end', `GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(40_000)}\r\n\r\n`, 431],
    ['two lengths', 'POST /api/v1/none HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab', 400],
    ['length and chunks', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n', 400],
  ])('gets a problem body: %s', async (_name, bytes, status) => {
    const server = await start()
    const answer = await speak(server.port, bytes)
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
    expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toMatchObject({ type: 'about:blank', status })
  })

  it.each(['application/activity+json', 'application/json', 'text/plain'])(
    'that disconnects during its body is no server error: %s',
    async (type) => {
      const lines: string[] = []
      const logger = makeLogger({ level: 'info', destination: { write: (line) => void lines.push(line) } })
      const statuses: number[] = []
      const add = (app: App) => {
        app.addHook('onSend', async (_request, reply) => void statuses.push(reply.statusCode))
        app.post('/inbox', { config: { body: 'raw' } }, async () => ({}))
      }
      const server = await start({ add, logger })
      const socket = connect(server.port, '127.0.0.1')
      socket.write(`POST /inbox HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\nContent-Length: 99\r\n\r\n{"a"`)
      await ask(server.port, '/api/v1/none')
      socket.destroy()
      expect(await until(() => statuses[0], { what: 'the answer' })).toBe(400)
      expect(lines.join('')).not.toContain('request failed')
    },
  )

  it('that sends less than announced is not waited for', async () => {
    const server = await start()
    const answer = await speak(
      server.port,
      'PUT /api/v1/none HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{"a"',
    )
    expect(answer === '' || /^HTTP\/1\.1 4\d\d /.test(answer)).toBe(true)
    expect((await ask(server.port, '/api/v1/none')).statusCode).toBe(200)
  })
})
