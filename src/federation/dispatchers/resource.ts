// Parses WebFinger resources (RFC 7033) of this server.

import { DomainError } from '../../actors/runtime/index.ts'
import type { Urls } from '../urls.ts'
import { parseHandle } from '../wire/index.ts'

/**
 * `acct:name@host` of this host, with or without its port, or an address of this server. Like in the reference, bare handles are invalid.
 * Throws DomainError `invalid` for every other resource.
 */
export function readResource(urls: Pick<Urls, 'host' | 'isLocal'>, resource: string): { name: string } | { url: string } {
  const plain = decoded(resource)
  if (/^https?:/i.test(plain) && plain.length <= LONGEST && urls.isLocal(plain)) return { url: plain }
  const handle = /^acct:/i.test(plain) ? parseHandle(`acct:${plain.slice(5)}`) : undefined
  const own = urls.host.toLowerCase()
  if (handle && [own, own.replace(/:\d+$/, '')].includes(handle.host)) return { name: handle.name }
  throw new DomainError('invalid', 'Incorrect request parameters: resource', {
    invalidParams: [{ name: 'resource', location: 'query', msg: 'Invalid value', value: resource || undefined }],
  })
}

const LONGEST = 2000

/** Some clients encode twice. */
function decoded(resource: string): string {
  try {
    return /^(?:acct|https?)(?::|%3a)\S*%/i.test(resource) ? decodeURIComponent(resource) : resource
  } catch {
    return resource
  }
}
