// Signs the requests that we send, by Fedify.

import { signRequest } from '@fedify/fedify/sig'
import type { SigningKey } from './keys.ts'

/** How to sign: the draft that everyone takes, or the RFC. Hosts differ; the delivery remembers which one works. */
export type SignatureProfile = 'cavage' | 'rfc9421'

/**
 * The headers of a request with its signature: `host`, `date`, the digest of the body, `signature` (and
 * `signature-input`). Host, date and digest are covered beside the target, as in the reference, and what the caller wants
 * covered besides. The query of a GET is not covered in the draft's form, which is what all verifiers accept.
 */
export async function signOutgoing(options: {
  method: string
  url: string
  /** Sent too, but not covered. */
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
    // The draft's form covers every header that is there.
    ...(options.profile === 'rfc9421' ? { rfc9421: { components: componentsOf(more) } } : {}),
    body,
  })
  const own = Object.fromEntries([...signed.headers].filter(([name]) => name !== 'content-type'))
  return { ...options.headers, ...own }
}

const COMPONENTS = ['@method', '@target-uri', '@authority', 'host', 'date']

const componentsOf = (more: Record<string, string>) => [...COMPONENTS, ...Object.keys(more)].map((value) => ({ value, params: {} }))
