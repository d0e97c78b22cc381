// A small client of the REST API.

import { setTimeout as pause } from 'node:timers/promises'

export interface Client {
  base: string
  /** The value of the header `Authorization`. */
  authorization: string
  get<T>(path: string, options?: { accept?: string }): Promise<T>
  send<T>(method: string, path: string, body?: unknown): Promise<T>
  /** The whole response, whatever its status. */
  raw(path: string, init?: RequestInit): Promise<Response>
}

/** Logs in and returns a client that sends the token. */
export async function login(base: string, username: string, password: string): Promise<Client> {
  const client = await ok<{ client_id: string; client_secret: string }>(await fetch(`${base}/api/v1/oauth-clients/local`))
  const form = new URLSearchParams({ ...client, grant_type: 'password', username, password })
  const tokens = await ok<{ access_token: string }>(await fetch(`${base}/api/v1/users/token`, { method: 'POST', body: form }))
  const authorization = `Bearer ${tokens.access_token}`
  const raw = (path: string, init: RequestInit = {}) =>
    fetch(new URL(path, base), {
      ...init,
      headers: { authorization, ...Object.fromEntries(new Headers(init.headers)) },
    })
  return {
    base,
    authorization,
    raw,
    async get(path, options = {}) {
      return await ok(await raw(path, { headers: { accept: options.accept ?? 'application/json' } }))
    },
    async send(method, path, body) {
      const json = body !== undefined && !(body instanceof FormData)
      return await ok(
        await raw(path, {
          method,
          headers: json ? { 'content-type': 'application/json' } : {},
          ...(body === undefined ? {} : { body: json ? JSON.stringify(body) : (body as FormData) }),
        }),
      )
    },
  }
}

/** The JSON of the response, or nothing for 204; throws with status and detail otherwise. */
export async function ok<T>(response: Response): Promise<T> {
  const text = await response.text()
  if (!response.ok) throw new Error(`${response.status} from ${response.url}: ${text.slice(0, 500)}`)
  return (text === '' ? undefined : JSON.parse(text)) as T
}

const LOOK_EVERY_MS = 50

/** Polls until there is a result; throws after `withinMs`, with the name of what was awaited. */
export async function eventually<T>(what: string, withinMs: number, look: () => Promise<T | undefined | null | false>): Promise<T> {
  const giveUpAt = performance.now() + withinMs
  let last: unknown
  while (performance.now() < giveUpAt) {
    try {
      const found = await look()
      if (found) return found
      last = undefined
    } catch (error) {
      last = error
    }
    await pause(LOOK_EVERY_MS)
  }
  throw new Error(`${what} did not happen within ${withinMs / 1000} s${last ? ` (${String(last)})` : ''}`)
}

/** Throws with the expectation. */
export function verify(condition: unknown, what: string): asserts condition {
  if (!condition) throw new Error(`Expected: ${what}`)
}
