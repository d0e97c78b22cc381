// The only way out: every request to an untrusted address uses this fetcher.

import type { Readable } from 'node:stream'
import { Agent, type Dispatcher, request as send } from 'undici'
import type { Logger } from '../logger.ts'
import { isPublicAddress } from './addresses.ts'
import { ACCEPTED_ENCODINGS, decodedBody } from './body.ts'
import { guardedConnector } from './connector.ts'
import { FetchError, toFetchError } from './errors.ts'
import { type Resolve, systemResolve } from './guarded-lookup.ts'

export interface FetchRequest {
  method?: string
  headers?: Record<string, string>
  body?: Buffer | string
  /** Largest accepted body, encoded or decoded. Default 1 MiB. */
  maxBytes?: number
  /** For everything: redirects, headers and the last byte of the body. Default: that of the fetcher. */
  timeoutMs?: number
  /** Default `follow` for GET and HEAD, `manual` for the rest. */
  redirect?: 'follow' | 'manual'
  /** Headers of the next hop, with a new signature. Without it, signatures and credentials are dropped. */
  onRedirect?: (next: { url: string; method: string }) => Record<string, string> | Promise<Record<string, string>>
  /** Lets the caller abort. */
  signal?: AbortSignal
}

export interface FetchedHead {
  status: number
  /** Lower-case names; repeated ones joined by a comma. */
  headers: Record<string, string>
  /** Final address, after redirects. */
  url: string
}

export interface FetchedBody extends FetchedHead {
  body: Buffer
}

export interface FetchedStream extends FetchedHead {
  /** Must be read to its end or destroyed. */
  body: Readable
}

export interface GuardedFetch {
  /** The response, whatever its status, buffered in memory. @throws {FetchError} */
  fetch(url: string, request?: FetchRequest): Promise<FetchedBody>
  /**
   * For files: the response as a stream, under the same guards. Timeout and size are enforced while it is read. @throws {FetchError} also
   * as the error of the stream
   */
  stream(url: string, request?: FetchRequest): Promise<FetchedStream>
  /** Closes idle connections and refuses new requests; running ones are aborted. */
  close(): Promise<void>
}

export interface GuardedFetchOptions {
  /** Allows plain http. Disabled in production. */
  allowHttp: boolean
  /** Allows loopback and private addresses. Disabled in production. */
  allowPrivateAddresses: boolean
  timeoutMs: number
  maxRedirects: number
  userAgent: string
  logger: Logger
  /** Replaces the rule of `allowPrivateAddresses` for resolved addresses. */
  isAllowedAddress?: (address: string) => boolean
  resolve?: Resolve
  /** The HTTP proxy for a connection; the guard stays. */
  proxy?: () => string | undefined
}

const DEFAULT_MAX_BYTES = 1024 * 1024
const CONNECTIONS_PER_ORIGIN = 8
const CONNECT_TIMEOUT_MS = 10_000
const MAX_URL_LENGTH = 2000
const LEFT_BEHIND = ['authorization', 'cookie', 'signature', 'signature-input', 'digest', 'content-digest', 'date', 'host']

/** Makes the guarded fetcher of a server, which limits addresses, schemes, redirects, sizes and times. */
export function makeGuardedFetch(options: GuardedFetchOptions): GuardedFetch {
  const agent = new Agent({
    connect: guardedConnector({
      isAllowed: options.isAllowedAddress ?? (options.allowPrivateAddresses ? () => true : isPublicAddress),
      timeoutMs: Math.min(CONNECT_TIMEOUT_MS, options.timeoutMs),
      resolve: options.resolve ?? systemResolve,
      proxy: options.proxy,
    }),
    connections: CONNECTIONS_PER_ORIGIN,
    pipelining: 1,
    // The deadline of each request covers both; undici's own timers would only add a second, coarser one.
    headersTimeout: 0,
    bodyTimeout: 0,
  })

  async function stream(url: string, request: FetchRequest = {}): Promise<FetchedStream> {
    const deadline = startDeadline({ url, timeoutMs: request.timeoutMs ?? options.timeoutMs, signal: request.signal })
    let found: Awaited<ReturnType<typeof open>> | undefined
    try {
      found = await open({ ...options, agent, url, request, signal: deadline.signal })
      const body = decodedBody({
        body: found.response.body,
        encoding: found.head.headers['content-encoding'],
        maxBytes: request.maxBytes ?? DEFAULT_MAX_BYTES,
        url: found.head.url,
      })
      body.once('close', deadline.end)
      return { ...found.head, body }
    } catch (error) {
      // A body that nobody reads would block its connection forever.
      found?.response.body.on('error', () => {}).destroy()
      deadline.end()
      const failure = toFetchError(error, url)
      options.logger.debug({ url: failure.url, reason: failure.reason }, 'fetch failed')
      throw failure
    }
  }

  return {
    stream,
    async fetch(url, request = {}) {
      const found = await stream(url, request)
      try {
        const parts: Buffer[] = []
        for await (const part of found.body) parts.push(part)
        return { ...found, body: Buffer.concat(parts) }
      } catch (error) {
        throw toFetchError(error, found.url)
      }
    },
    close: () => agent.destroy(),
  }
}

interface Opening extends GuardedFetchOptions {
  agent: Agent
  url: string
  request: FetchRequest
  signal: AbortSignal
}

/** Sends the request and follows redirects, each of which passes the same guards. */
async function open(opening: Opening): Promise<{ response: Dispatcher.ResponseData; head: FetchedHead }> {
  const { agent, request, signal, maxRedirects, userAgent } = opening
  const seen = new Set<string>()
  let target = checkedUrl(opening.url, opening)
  let method = (request.method ?? 'GET').toUpperCase()
  let body = request.body
  let headers = lowerCased(request.headers ?? {})
  const follows = (request.redirect ?? (isSafe(method) ? 'follow' : 'manual')) === 'follow'
  for (let hops = 0; ; hops++) {
    seen.add(target.href)
    const answer = send(target, {
      dispatcher: agent,
      method,
      body: body ?? null,
      signal,
      headers: { 'user-agent': userAgent, 'accept-encoding': ACCEPTED_ENCODINGS, ...headers },
    })
    const response = await orAborted(answer, signal).catch((error: unknown) => {
      throw toFetchError(error, target.href)
    })
    const location = redirection(response)
    if (!follows || location === undefined)
      return { response, head: { status: response.statusCode, headers: flat(response.headers), url: target.href } }
    response.body.on('error', () => {}).destroy()
    if (hops >= maxRedirects) throw new FetchError('redirect', target.href, { message: 'too many redirections' })
    const next = checkedUrl(location, opening, target)
    if (seen.has(next.href)) throw new FetchError('redirect', next.href, { message: 'a loop of redirections' })
    if (!isSafe(method) && !keepsMethod(response.statusCode)) {
      method = 'GET'
      body = undefined
      headers = without(headers, ['content-type', 'content-length'])
    }
    const signed = await request.onRedirect?.({ url: next.href, method })
    headers = { ...without(headers, LEFT_BEHIND), ...lowerCased(signed ?? {}) }
    target = next
  }
}

/** The response, or the reason of the signal: a request that still waits for a free connection does not notice it. */
async function orAborted(answer: Promise<Dispatcher.ResponseData>, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
  // A late response is discarded.
  answer.then(
    (late) => signal.aborted && late.body.on('error', () => {}).destroy(),
    () => {},
  )
  signal.throwIfAborted()
  let stop = () => {}
  const aborted = new Promise<never>((_resolve, reject) => {
    const onAbort = () => reject(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    stop = () => signal.removeEventListener('abort', onAbort)
  })
  return await Promise.race([answer, aborted]).finally(stop)
}

/** The normalised URL (numbers of IPv4 addresses, IDN, dots), or a refusal. */
function checkedUrl(text: string, rules: { allowHttp: boolean }, base?: URL): URL {
  const url = text.length <= MAX_URL_LENGTH ? URL.parse(text, base?.href) : null
  const shown = text.slice(0, MAX_URL_LENGTH)
  const reason = base ? 'redirect' : 'refused-url'
  if (!url) throw new FetchError(reason, shown, { message: 'not a URL' })
  if (url.protocol !== 'https:' && !(rules.allowHttp && url.protocol === 'http:'))
    throw new FetchError(reason, shown, { message: `scheme ${url.protocol} is not allowed` })
  if (url.username !== '' || url.password !== '')
    throw new FetchError(reason, url.host, { message: 'credentials in a URL are not allowed' })
  if (url.hostname.endsWith('.')) url.hostname = url.hostname.replace(/\.+$/, '')
  url.hash = ''
  return url
}

function redirection(response: Dispatcher.ResponseData): string | undefined {
  const { location } = response.headers
  const isRedirection = [301, 302, 303, 307, 308].includes(response.statusCode)
  return isRedirection && typeof location === 'string' ? location : undefined
}

const isSafe = (method: string): boolean => method === 'GET' || method === 'HEAD'
const keepsMethod = (status: number): boolean => status === 307 || status === 308

/** One timer for the whole exchange. */
function startDeadline(options: { url: string; timeoutMs: number; signal: AbortSignal | undefined }): {
  signal: AbortSignal
  end: () => void
} {
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(new FetchError('timeout', options.url)), options.timeoutMs)
  const giveUp = () => controller.abort(new FetchError('aborted', options.url))
  if (options.signal?.aborted) giveUp()
  options.signal?.addEventListener('abort', giveUp, { once: true })
  return {
    signal: controller.signal,
    end() {
      clearTimeout(timer)
      options.signal?.removeEventListener('abort', giveUp)
    },
  }
}

const lowerCased = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

const without = (headers: Record<string, string>, names: string[]): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name)))

function flat(headers: Dispatcher.ResponseData['headers']): Record<string, string> {
  const found: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined) found[name.toLowerCase()] = Array.isArray(value) ? value.join(', ') : value
  return found
}
