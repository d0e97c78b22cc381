// Ends of sessions in transactions of other nouns.

import { dropPushSubscriptions } from '../notification/notification.writes.ts'
import type { Unit } from '../runtime/index.ts'

/** The topic: `{ user }` or `{ account }`, whose sessions ended or changed. */
export const SESSIONS_CHANGED = 'sessions-changed'

/**
 * Runs in the transaction that blocks a user or changes a password: ends all sessions of the user, except for that of the requester, if it
 * may stay, revokes the user's application tokens, and ends pushes to the user's browsers.
 */
export async function endSessions(unit: Pick<Unit, 'query' | 'publish'>, userId: number, except?: number): Promise<void> {
  await unit.query('delete from session where user_id = $1 and id is distinct from $2', [userId, except ?? null])
  await unit.query('delete from application_token where user_id = $1', [userId])
  await dropPushSubscriptions(unit.query, userId)
  renewSessions(unit, { user: userId })
}

/** Runs in the transaction that changes the user's data in a session. */
export const renewSessions = (unit: Pick<Unit, 'publish'>, of: { user: number } | { account: number }): void =>
  unit.publish(SESSIONS_CHANGED, of)
