// A round-robin reverse proxy for tests: by default like nginx, optionally like a load balancer with readiness checks. A request goes to
// another server only if the first one refused the connection.

import { Agent, createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'

export interface RoundRobin {
  /** Without a trailing slash. */
  url: string
  port: number
  /** Replaces `targets` from now on. */
  setTargets(targets: string[]): void
  close(): Promise<void>
}

export interface RoundRobinOptions {
  /** Origins, such as `http://127.0.0.1:9000`; evaluated for each request. */
  targets: () => string[]
  /** Readiness path; a target that answers 503, or not at all, gets no requests. */
  readyPath?: string
  readyEveryMs?: number
  port?: number
}

const HOP_BY_HOP = new Set(['connection', 'keep-alive', 'proxy-connection', 'te', 'transfer-encoding', 'upgrade'])
const PROBE_TIMEOUT_MS = 1000
const NEVER_SENT = new Set(['ECONNREFUSED', 'EADDRNOTAVAIL', 'EHOSTUNREACH'])

export async function startRoundRobin(options: RoundRobinOptions): Promise<RoundRobin> {
  const { readyPath = '/health/ready', readyEveryMs = 100, port = 0 } = options
  let targets = options.targets
  let turn = 0
  const down = new Set<string>()
  const probes = new Agent({ keepAlive: false })
  const upstream = new Agent({ keepAlive: true })

  /** All targets, the next one first and unready ones last, which are still tried if none is ready. */
  function inTurn(): string[] {
    const all = targets()
    turn += 1
    const next = all.map((_, index) => all[(index + turn) % all.length] ?? '')
    return [...next.filter((target) => !down.has(target)), ...next.filter((target) => down.has(target))]
  }

  async function probe(): Promise<void> {
    await Promise.all(
      targets().map(async (target) => {
        const status = await statusOf(`${target}${readyPath}`, probes)
        if (status === undefined || status === 503) down.add(target)
        else down.delete(target)
      }),
    )
  }

  const server = createServer((incoming, answer) => pass(incoming, answer, inTurn()))
  server.requestTimeout = 0

  function pass(incoming: IncomingMessage, answer: ServerResponse, candidates: string[]): void {
    const [target, ...others] = candidates
    if (target === undefined) {
      refuse(answer)
      return
    }
    const outgoing = httpRequest(new URL(incoming.url ?? '/', target), {
      agent: upstream,
      method: incoming.method ?? 'GET',
      headers: forwarded(incoming),
    })
    // The body is read once a connection is open, so that a refused connection loses none of it.
    outgoing.once('socket', (socket) => {
      const send = () => incoming.pipe(outgoing)
      if (socket.connecting) socket.once('connect', send)
      else send()
    })
    outgoing.once('response', (response) => {
      answer.writeHead(response.statusCode ?? 502, withoutHops(response))
      response.on('error', () => answer.destroy())
      response.pipe(answer)
    })
    outgoing.once('error', (error) => {
      if (answer.headersSent || answer.destroyed) answer.destroy()
      else if (!neverSent(error)) refuse(answer, error)
      else {
        down.add(target)
        pass(incoming, answer, others)
      }
    })
    answer.once('close', () => {
      if (!answer.writableFinished) outgoing.destroy()
    })
  }

  // As nginx does by default: each request goes to the next target, without stickiness.
  const upgraded = new Set<Duplex>()
  server.on('upgrade', (incoming: IncomingMessage, socket: Duplex, head: Buffer) => {
    const track = (one: Duplex) => {
      upgraded.add(one)
      one.once('close', () => upgraded.delete(one))
      one.on('error', () => one.destroy())
    }
    track(socket)
    const [target] = inTurn()
    if (target === undefined) return socket.destroy()
    const headers = { ...forwarded(incoming), connection: 'Upgrade', upgrade: incoming.headers.upgrade ?? '' }
    const outgoing = httpRequest(new URL(incoming.url ?? '/', target), { agent: false, headers })
    outgoing.once('error', () => socket.destroy())
    outgoing.once('response', (response) => {
      socket.write(headOf(response))
      response.pipe(socket)
    })
    outgoing.once('upgrade', (response, other, first) => {
      track(other)
      socket.write(headOf(response))
      socket.write(first)
      other.write(head)
      socket.pipe(other).pipe(socket)
      socket.once('close', () => other.destroy())
      other.once('close', () => socket.destroy())
    })
    outgoing.end()
  })

  await probe()
  let probing: Promise<void> = Promise.resolve()
  const timer = setInterval(() => {
    probing = probe()
  }, readyEveryMs)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  const listening = (server.address() as AddressInfo).port

  return {
    url: `http://127.0.0.1:${listening}`,
    port: listening,
    setTargets(given) {
      targets = () => given
    },
    async close() {
      clearInterval(timer)
      await probing
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      for (const socket of upgraded) socket.destroy()
      upstream.destroy()
      probes.destroy()
      await closed
    },
  }
}

const neverSent = (error: Error): boolean => 'code' in error && NEVER_SENT.has(String(error.code))

function refuse(answer: ServerResponse, error?: Error): void {
  answer.writeHead(502, { 'content-type': 'text/plain' }).end(error?.message ?? 'No server could be reached.')
}

const headOf = ({ statusCode, statusMessage, rawHeaders }: IncomingMessage): string => {
  const lines = rawHeaders.flatMap((name, at) => (at % 2 === 0 ? [`${name}: ${rawHeaders[at + 1]}`] : []))
  return [`HTTP/1.1 ${statusCode} ${statusMessage}`, ...lines, '', ''].join('\r\n')
}

const forwarded = (incoming: IncomingMessage) => {
  const headers: Record<string, string | string[]> = {}
  for (const [name, value] of Object.entries(incoming.headers)) {
    if (value !== undefined && !HOP_BY_HOP.has(name)) headers[name] = value
  }
  // A body without a declared length is sent without one.
  if (incoming.headers['transfer-encoding'] !== undefined) headers['transfer-encoding'] = 'chunked'
  headers['x-forwarded-for'] = incoming.socket.remoteAddress ?? '127.0.0.1'
  return headers
}

const withoutHops = ({ headers }: IncomingMessage) =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (value === undefined || HOP_BY_HOP.has(name) ? [] : [[name, value] as const])),
  )

const statusOf = (url: string, agent: Agent): Promise<number | undefined> =>
  new Promise((resolve) => {
    const requested = httpRequest(url, { agent, timeout: PROBE_TIMEOUT_MS }, (answer) => {
      answer.resume()
      resolve(answer.statusCode)
    })
    requested.once('timeout', () => requested.destroy())
    requested.once('error', () => resolve(undefined))
    requested.end()
  })
