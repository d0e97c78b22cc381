// A small router with the usual interface of Express: methods, paths with `:parameters` and `*`, and middleware. Requests and answers are
// whole: nothing is streamed.

export interface PluginRequest {
  method: string
  /** The path of the router, such as `/plugins/example/router`. */
  base: string
  /** Below the router, such as `/callback`, as it was sent. */
  path: string
  /** The query string. */
  query: string
  /** Of the client. */
  ip: string
  /** Of the server, such as `https`. */
  protocol: string
  hostname: string
  headers: Record<string, string>
  /** In base 64. */
  body: string
  user: { id: number; username: string; role: number } | null
}

export interface PluginAnswer {
  status: number
  headers: Record<string, string>
  /** In base 64. */
  body: string
}

type Next = (error?: unknown) => void
type Handler = (request: Request, response: Response, next: Next) => unknown
type ErrorHandler = (error: unknown, request: Request, response: Response, next: Next) => unknown

export interface Request {
  method: string
  path: string
  url: string
  baseUrl: string
  originalUrl: string
  ip: string
  protocol: string
  secure: boolean
  hostname: string
  params: Record<string, string>
  query: Record<string, string | string[]>
  headers: Record<string, string>
  body: unknown
  rawBody: Buffer
  get(name: string): string | undefined
  header(name: string): string | undefined
}

export interface Response {
  statusCode: number
  headersSent: boolean
  locals: Record<string, unknown>
  status(code: number): Response
  sendStatus(code: number): Response
  set(name: string | Record<string, string>, value?: string): Response
  header(name: string | Record<string, string>, value?: string): Response
  setHeader(name: string, value: string): Response
  getHeader(name: string): string | undefined
  type(type: string): Response
  json(value: unknown): Response
  send(value?: unknown): Response
  end(value?: unknown): Response
  redirect(...to: [string] | [number, string]): Response
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete', 'head', 'options', 'all'] as const

type Add = (path: string | Handler | ErrorHandler, ...handlers: (Handler | ErrorHandler)[]) => Router
export type Router = Record<(typeof METHODS)[number] | 'use', Add>

interface Layer {
  method: string | undefined
  /** Matches the path, or the beginning of it that a handler of `use` does not see. */
  path: RegExp
  isPrefix: boolean
  names: string[]
  handler: Handler | ErrorHandler
}

export function makeRouter(): { router: Router; handle(request: PluginRequest): Promise<PluginAnswer> } {
  const layers: Layer[] = []

  const add =
    (method: string | undefined, isPrefix: boolean): Add =>
    (path, ...handlers) => {
      const [pattern, all] = typeof path === 'string' ? [path, handlers] : ['/', [path, ...handlers]]
      const read = toPattern(pattern, isPrefix || typeof path !== 'string')
      for (const handler of all.flat()) layers.push({ method, ...read, handler })
      return router
    }
  const router = Object.fromEntries([
    ...METHODS.map((name) => [name, add(name === 'all' ? undefined : name.toUpperCase(), false)]),
    ['use', add(undefined, true)],
  ]) as Router

  return {
    router,
    handle: (asked) =>
      new Promise((resolve, reject) => {
        const request = toRequest(asked)
        const response = makeResponse(asked, resolve)
        let at = 0
        const next: Next = (error) => {
          const layer = layers.slice(at).find(({ method, path, handler }) => {
            at += 1
            const takes = method === undefined || method === asked.method || (method === 'GET' && asked.method === 'HEAD')
            return takes && path.test(asked.path) && (error === undefined ? handler.length < 4 : handler.length === 4)
          })
          if (!layer) {
            const status = error === undefined ? 404 : statusOf(error)
            return status ? void response.sendStatus(status) : reject(error instanceof Error ? error : new Error(String(error)))
          }
          const [matched = '', ...values] = layer.path.exec(asked.path) ?? []
          Object.assign(request, placeOf(asked, layer.isPrefix ? matched : ''))
          request.params = Object.fromEntries(layer.names.map((name, index) => [name, decode(values[index] ?? '')]))
          const run = async (): Promise<unknown> =>
            error === undefined
              ? await (layer.handler as Handler)(request, response, next)
              : await (layer.handler as ErrorHandler)(error, request, response, next)
          run().catch((thrown: unknown) => next(thrown ?? new Error('The handler has failed.')))
        }
        try {
          request.body = toBody(request.rawBody, request.headers['content-type'] ?? '')
        } catch (error) {
          return next(Object.assign(error as SyntaxError, { status: 400 }))
        }
        next()
      }),
  }
}

/** Of an error as libraries for Express make them; undefined for others. */
function statusOf(error: unknown): number | undefined {
  const { status, statusCode } = Object(error) as { status?: unknown; statusCode?: unknown }
  return [status, statusCode].find((one): one is number => Number.isInteger(one) && Number(one) >= 400 && Number(one) < 600)
}

function toPattern(path: string, isPrefix: boolean): Pick<Layer, 'path' | 'isPrefix' | 'names'> {
  const names: string[] = []
  const source = path
    .replace(/\/+$/, '')
    .split('/')
    .map((step) => {
      if (step === '*') {
        names.push('0')
        return '(.*)'
      }
      if (!step.startsWith(':')) return step.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
      names.push(step.slice(1))
      return '([^/]+)'
    })
    .join('/')
  return { path: new RegExp(`^${source}${isPrefix ? '(?=/|$)' : '/?$'}`, 'i'), isPrefix, names }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Its body is not parsed yet. */
export function toRequest(asked: PluginRequest): Request {
  const { method, base, query, headers, body, ip, protocol, hostname } = asked
  const place = placeOf(asked, '')
  return {
    method,
    ...place,
    originalUrl: `${base}${place.url}`,
    ip,
    protocol,
    secure: protocol === 'https',
    hostname,
    params: {},
    query: toObject(new URLSearchParams(query)),
    headers,
    rawBody: Buffer.from(body, 'base64'),
    body: {},
    get: (name) => headers[name.toLowerCase()],
    header: (name) => headers[name.toLowerCase()],
  }
}

/** The addresses of a request as a handler below the beginning of a path sees them. */
function placeOf({ base, path, query }: PluginRequest, beginning: string): Pick<Request, 'baseUrl' | 'path' | 'url'> {
  const rest = path.slice(beginning.length) || '/'
  return { baseUrl: `${base}${beginning}`, path: rest, url: query === '' ? rest : `${rest}?${query}` }
}

function toBody(bytes: Buffer, type: string): unknown {
  if (bytes.length === 0) return {}
  const text = bytes.toString('utf8')
  if (/^application\/(?:[\w.-]+\+)?json\b/i.test(type)) return JSON.parse(text)
  if (/^application\/x-www-form-urlencoded\b/i.test(type)) return toObject(new URLSearchParams(text))
  return /^text\//i.test(type) ? text : bytes
}

function toObject(parameters: URLSearchParams): Record<string, string | string[]> {
  return Object.fromEntries(
    [...new Set(parameters.keys())].map((name) => {
      const values = parameters.getAll(name)
      return [name, values.length > 1 ? values : (values[0] ?? '')]
    }),
  )
}

function makeResponse({ user }: PluginRequest, resolve: (answer: PluginAnswer) => void): Response {
  const headers: Record<string, string> = {}
  const set = (name: string | Record<string, string>, value?: string): Response => {
    const pairs = typeof name === 'string' ? [[name, value ?? '']] : Object.entries(name)
    for (const [key = '', one] of pairs) headers[key.toLowerCase()] = String(one)
    return response
  }
  const response: Response = {
    statusCode: 200,
    headersSent: false,
    // Where helpers look for the user of the request.
    locals: { user },
    status(code) {
      response.statusCode = code
      return response
    },
    sendStatus: (code) => response.status(code).end(),
    set,
    header: set,
    setHeader: set,
    getHeader: (name) => headers[name.toLowerCase()],
    type: (type) => set('content-type', type),
    json(value) {
      headers['content-type'] ??= 'application/json; charset=utf-8'
      return response.end(JSON.stringify(value))
    },
    send(value) {
      if (Buffer.isBuffer(value) || value === undefined) return response.end(value)
      if (typeof value !== 'string') return response.json(value)
      headers['content-type'] ??= 'text/html; charset=utf-8'
      return response.end(value)
    },
    end(value) {
      if (response.headersSent) return response
      response.headersSent = true
      const body = Buffer.isBuffer(value) ? value : Buffer.from(value === undefined ? '' : String(value))
      resolve({ status: response.statusCode, headers, body: body.toString('base64') })
      return response
    },
    redirect(...to) {
      const [code, address] = to.length === 2 ? to : [302, to[0]]
      return response.status(code).set('location', address).end()
    },
  }
  return response
}
