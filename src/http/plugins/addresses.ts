// Normalises addresses: clients double slashes, and add trailing ones.

import type { IncomingMessage } from 'node:http'

export const singleSlashes = (path: string): string => path.replace(/\/{2,}/g, '/')

/** For `rewriteUrl`: the address with single slashes and no trailing one. `originalUrl` keeps what was sent, for signatures. */
export function withSingleSlashes({ url = '/' }: IncomingMessage): string {
  const end = url.indexOf('?')
  const path = end === -1 ? url : url.slice(0, end)
  if (!path.startsWith('/') || !/\/(?:\/|$)/.test(path)) return url
  const single = singleSlashes(path)
  return (single === '/' ? single : single.replace(/\/$/, '')) + url.slice(path.length)
}
