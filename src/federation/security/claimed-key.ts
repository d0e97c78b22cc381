// The claimed sender of a request, before verification: enough to refuse it, never to accept it.

import { type HeaderValues, headerValue } from './http-message.ts'

/** The key id of the claimed signature (draft-cavage or RFC 9421); undefined if the request is not signed. */
export function claimedKeyId(headers: HeaderValues): string | undefined {
  const claim = headerValue(headers, 'signature-input') ?? headerValue(headers, 'signature') ?? headerValue(headers, 'authorization')
  return claim === undefined ? undefined : /\bkeyid="([^"]{1,2000})"/i.exec(claim)?.[1]
}

/** The host in a key id: of an address, or of `acct:name@host`. Undefined if there is none. */
export function hostOfKey(keyId: string): string | undefined {
  const host = keyId.startsWith('acct:') ? keyId.slice(keyId.lastIndexOf('@') + 1) : URL.parse(keyId)?.host
  return host ? host.toLowerCase() : undefined
}
