// The question to the system that the user of a session logged in with, before the session is refreshed.

import { type ActorDeps, DomainError } from '../runtime/index.ts'
import type { ExternalLogins } from './session.types.ts'
import { endSessions } from './session.writes.ts'

/**
 * One process at a time asks for a session, since systems revoke a grant that is used twice at once. A process that has died holds it for this
 * long: more than four requests of 30 s, which is what a provider may take.
 */
const HELD_MS = 120_000

export const wrongRefresh = (): DomainError =>
  new DomainError('invalid', 'Invalid grant: refresh token is invalid', { code: 'invalid_grant' })

/**
 * Asks the system that the user of this session logged in with, and returns the next grant; null for a session without one. This session
 * ends if there is nothing to ask with any more. If the system refuses the user, all sessions of the user end, and the application tokens
 * with them. Throws `unavailable` while the system cannot be asked, or is being asked.
 */
export type AskAgain = (refreshHash: Buffer, clientId: number) => Promise<string | null>

export function makeAskAgain({
  db,
  tell,
  clock,
  external,
  end,
}: Pick<ActorDeps, 'db' | 'tell' | 'clock'> & {
  external: Pick<ExternalLogins, 'again'>
  /** Ends a session that is held since then. */
  end: (sessionId: number, heldSince: Date) => Promise<void>
}): AskAgain {
  return async (refreshHash, clientId) => {
    const now = clock.now()
    const [session] = await db.query<{ id: number; user_id: number; identity_id: number; grant_sealed: string | null; is_held: boolean }>(
      `with asked as (
         select id, user_id, external_identity_id as identity_id, external_grant_sealed as grant_sealed,
           coalesce(external_asked_at > $4, false) as is_held
         from session
         where refresh_token_hash = $1 and refresh_expires_at > $3 and client_id = $2 and external_identity_id is not null
           and not exists (select 1 from users u where u.id = session.user_id and u.blocked)
         for update
       ), held as (
         update session s set external_asked_at = $3 from asked where s.id = asked.id and not asked.is_held and asked.grant_sealed is not null
       ) select * from asked`,
      [refreshHash, clientId, now, new Date(now.getTime() - HELD_MS)],
    )
    if (!session) return null
    const { id, user_id: userId, identity_id: identityId, grant_sealed: grant, is_held: isHeld } = session
    if (isHeld) throw new DomainError('unavailable', 'Another request refreshes this session now.')
    if (grant === null) throw wrongRefresh()
    const keep = async (next: string): Promise<void> => {
      await db.query('update session set external_grant_sealed = $3 where id = $1 and external_asked_at = $2', [id, now, next])
    }
    const next = await external.again(identityId, grant, keep).catch(async (error: unknown) => {
      await db.query('update session set external_asked_at = null where id = $1 and external_asked_at = $2', [id, now])
      throw error
    })
    if (typeof next === 'string') return next
    if (next === null) await end(id, now)
    else await tell({ aggregate: 'user', id: userId }, (unit) => endSessions(unit, userId))
    throw wrongRefresh()
  }
}
