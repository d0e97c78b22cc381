// Signed tokens for links and files, verified without the database (JWS with HMAC-SHA-256, RFC 7515 and 7519).

import { jwtVerify, SignJWT } from 'jose'
import type { Clock } from './clock.ts'
import type { Secrets } from './secrets.ts'

export type TokenClaims = Record<string, string | number | boolean>

export type SignedTokens = ReturnType<typeof makeSignedTokens>

const ALGORITHM = 'HS256'

/** Each purpose has a key of its own, so that a token cannot be used for anything else. */
export function makeSignedTokens({ secrets, clock }: { secrets: Secrets; clock: Clock }) {
  const keys = new Map<string, Uint8Array>()
  const keyOf = (purpose: string): Uint8Array => {
    const key = keys.get(purpose) ?? Buffer.from(secrets.hmac('signed-token', purpose), 'hex')
    keys.set(purpose, key)
    return key
  }
  return {
    /** A token that only `read` with the same purpose accepts, for this lifetime (ms). */
    async sign(purpose: string, claims: TokenClaims, lifetimeMs: number) {
      const now = Math.floor(clock.now().getTime() / 1000)
      return await new SignJWT(claims)
        .setProtectedHeader({ alg: ALGORITHM })
        .setIssuedAt(now)
        .setExpirationTime(now + Math.floor(lifetimeMs / 1000))
        .sign(keyOf(purpose))
    },
    /** The claims; undefined if the token is forged, expired, or for another purpose. */
    async read(purpose: string, token: string): Promise<TokenClaims | undefined> {
      try {
        const { payload } = await jwtVerify(token, keyOf(purpose), {
          algorithms: [ALGORITHM],
          currentDate: clock.now(),
        })
        const { iat: _iat, exp: _exp, ...claims } = payload
        return claims as TokenClaims
      } catch {
        return undefined
      }
    },
  }
}
