// Tokens for a single purpose: private feeds. Stored encrypted, to be shown to their user again, and hashed, for look-ups.

import type { Clock } from '../../platform/clock.ts'
import type { Database } from '../../platform/database/index.ts'
import { newUuid, sha256 } from '../../platform/ids.ts'
import type { Secrets } from '../../platform/secrets.ts'

export type ScopedTokens = ReturnType<typeof makeScopedTokens>

export function makeScopedTokens(deps: { db: Database; clock: Clock; secrets: Secrets }) {
  const { db, clock, secrets } = deps

  /** The stored token; `renew` replaces an existing one. */
  async function store(userId: number, renew: boolean): Promise<string> {
    const token = newUuid()
    // An existing row is updated with its own values, so that the statement returns it.
    const [row] = await db.query<{ token_sealed: string }>(
      `insert into feed_token (user_id, token_hash, token_sealed, created_at, updated_at) values ($1, $2, $3, $4, $4)
       on conflict (user_id) do update set
         token_hash = case when $5 then excluded.token_hash else feed_token.token_hash end,
         token_sealed = case when $5 then excluded.token_sealed else feed_token.token_sealed end,
         updated_at = case when $5 then excluded.updated_at else feed_token.updated_at end
       returning token_sealed`,
      [userId, sha256(token), secrets.seal(token), clock.now(), renew],
    )
    if (!row) throw new Error('The feed token could not be stored.')
    return secrets.open(row.token_sealed)
  }

  return {
    /** The token of the user's private feeds, created on the first request. */
    async feedToken(userId: number): Promise<string> {
      const [row] = await db.query<{ token_sealed: string }>('select token_sealed from feed_token where user_id = $1', [userId])
      return row ? secrets.open(row.token_sealed) : await store(userId, false)
    },
    /** Replaces the token: addresses with the old one stop working. */
    renewFeedToken(userId: number): Promise<string> {
      return store(userId, true)
    },
  }
}
