// Signs outgoing requests with Fedify.

import { signRequest } from '@fedify/fedify/sig'
import type { SigningKey } from './keys.ts'

/** The signature profile: the draft that everyone accepts, or the RFC. Hosts differ; the delivery remembers which one works. */
export type SignatureProfile = 'cavage' | 'rfc9421'

/**
 * The headers of a request with its signature: `host`, `date`, the digest of the body, `signature` (and `signature-input`). The signature
 * covers the target, host, date and digest, as in the reference, and the headers in `covered`. The draft's form does not cover the query of
 * a GET, since all verifiers accept that.
 */
export async function signOutgoing(options: {
  method: string
  url: string
  /** Sent, but not covered. */
  headers?: Record<string, string>
  /** Sent and covered. */
  covered?: Record<string, string>
  body?: Buffer | string
  key: SigningKey
  profile: SignatureProfile
  now: Date
}): Promise<Record<string, string>> {
  const { method, url, key } = options
  const hasBody = options.body !== undefined
  const body = hasBody ? new Uint8Array(Buffer.from(options.body ?? '')).buffer : null
  const { covered: more = {} } = options
  const covered = { host: new URL(url).host, date: options.now.toUTCString(), ...more }
  const request = new Request(url, { method, headers: covered, ...(hasBody ? { body } : {}) })
  const signed = await signRequest(request, key.privateKey, new URL(key.keyId), {
    spec: options.profile === 'rfc9421' ? 'rfc9421' : 'draft-cavage-http-signatures-12',
    // The draft's form covers every present header.
    ...(options.profile === 'rfc9421' ? { rfc9421: { components: componentsOf(more) } } : {}),
    body,
  })
  const own = Object.fromEntries([...signed.headers].filter(([name]) => name !== 'content-type'))
  return { ...options.headers, ...own }
}

const COMPONENTS = ['@method', '@target-uri', '@authority', 'host', 'date']

const componentsOf = (more: Record<string, string>) => [...COMPONENTS, ...Object.keys(more)].map((value) => ({ value, params: {} }))
