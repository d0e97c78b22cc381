// Whom a request names as its sender, before anything of it is believed: enough to refuse somebody, never to let anybody in.

import { type HeaderValues, headerValue } from './http-message.ts'

/** The key id that a request says to be signed with (draft-cavage or RFC 9421); undefined when it is not signed. */
export function claimedKeyId(headers: HeaderValues): string | undefined {
  const claim = headerValue(headers, 'signature-input') ?? headerValue(headers, 'signature') ?? headerValue(headers, 'authorization')
  return claim === undefined ? undefined : /\bkeyid="([^"]{1,2000})"/i.exec(claim)?.[1]
}

/** The host that a key id names: of an address, or of `acct:name@host`. Undefined when it names none. */
export function hostOfKey(keyId: string): string | undefined {
  const host = keyId.startsWith('acct:') ? keyId.slice(keyId.lastIndexOf('@') + 1) : URL.parse(keyId)?.host
  return host ? host.toLowerCase() : undefined
}
