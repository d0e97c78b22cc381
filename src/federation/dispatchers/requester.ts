// Who says to be reading, and whether a read is refused for it: blocked servers and actors get nothing.

import { DomainError } from '../../actors/runtime/index.ts'
import type { Blocked } from '../blocked.ts'
import { type HeaderValues, headerValue } from '../security/index.ts'
import type { KeyStore } from '../security/key-store.ts'

/**
 * Throws DomainError `forbidden` when the reader says to be blocked here. The signature need not be checked for that:
 * nobody gains by such a lie, and whoever hides behind another name has no signature to show.
 */
export async function refuseBlockedReader(
  headers: HeaderValues,
  { keys, blocked }: { keys: Pick<KeyStore, 'find'>; blocked: Blocked },
): Promise<void> {
  const keyId = claimedKeyId(headers)
  if (keyId === undefined) return
  const isBlocked = (await blocked.host(keyId)) || (await blocked.actor((await keys.find(keyId))?.owner ?? keyId))
  if (isBlocked) throw new DomainError('forbidden', 'This server does not answer you.')
}

/** The key id that a request says to be signed with (draft-cavage or RFC 9421); undefined when it is not signed. */
function claimedKeyId(headers: HeaderValues): string | undefined {
  const claim =
    headerValue(headers, 'signature-input') ??
    headerValue(headers, 'signature') ??
    headerValue(headers, 'authorization')
  return claim === undefined ? undefined : /\bkeyid="([^"]{1,2000})"/i.exec(claim)?.[1]
}
