// Converts the request of a row into arguments of fetch.

import type { Route } from './route-list.ts'
import type { RouteRequest } from './row.ts'

/** Path and query. Throws when a path parameter is missing. */
export function addressOf({ url, name }: Route, { params = {}, query = {} }: RouteRequest): string {
  const path = url.replace(/:(\w+)|\*/g, (piece, parameter: string | undefined) => {
    const value = params[parameter ?? piece]
    if (value === undefined) throw new Error(`The row of ${name} gives no ${piece}.`)
    return parameter ? encodeURIComponent(value) : String(value)
  })
  const search = new URLSearchParams(query).toString()
  return search === '' ? path : `${path}?${search}`
}

/** Headers and body. */
export function contentOf({ body, headers = {} }: RouteRequest): RequestInit {
  if (body === undefined) return { headers }
  if (body instanceof FormData || body instanceof URLSearchParams) return { headers, body }
  if (Buffer.isBuffer(body)) return { headers, body: new Uint8Array(body) }
  return { headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) }
}
