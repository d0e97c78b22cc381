// Application tokens: named, with scopes and an expiry, for scripts of a user and for users without a password here. Shown once, stored as
// hashes.

import type { Columns, Database } from '../../platform/database/index.ts'
import { sha256 } from '../../platform/ids.ts'
import { type ActorDeps, DomainError, notFound } from '../runtime/index.ts'
import { type User, userRoles } from '../user/user.entity.ts'
import type { ApplicationToken } from './session.entity.ts'
import { renewSessions } from './session.writes.ts'
import { newApplicationToken, type TokenScope } from './token-scope.ts'

export interface NewApplicationToken {
  name: string
  scopes: readonly TokenScope[]
  expiresAt: Date
}

export type ApplicationTokenRow = Columns<typeof ApplicationToken, 'id' | 'name' | 'scopes' | 'expiresAt' | 'lastUsedAt' | 'createdAt'>

/** Per user. */
const MAX_TOKENS = 100

const COLUMNS = 'id, name, scopes, expires_at, last_used_at, created_at'

export type ApplicationTokens = ReturnType<typeof makeApplicationTokens>

export function makeApplicationTokens({ tell, clock }: Pick<ActorDeps, 'tell' | 'clock'>) {
  return {
    /**
     * Returns the token itself, which cannot be read again. Throws `invalid` for an expiry in the past, `forbidden` for the scope `admin`
     * of a user who is not of the staff, `conflict` if the user has too many tokens.
     */
    async create(userId: number, { name, scopes, expiresAt }: NewApplicationToken): Promise<{ token: string; row: ApplicationTokenRow }> {
      if (expiresAt <= clock.now()) {
        const msg = 'Should have a time in the future'
        throw new DomainError('invalid', msg, { invalidParams: [{ name: 'expiresAt', location: 'body', msg, value: expiresAt }] })
      }
      const token = newApplicationToken()
      return await tell({ aggregate: 'user', id: userId }, async (unit) => {
        const [user] = await unit.query<Columns<User, 'role' | 'blocked'> & { tokens: number }>(
          `select role, blocked, (select count(*)::int from application_token where user_id = u.id) as tokens from users u where id = $1`,
          [userId],
        )
        if (!user || user.blocked) throw notFound('User not found')
        if (user.role === userRoles.user && scopes.includes('admin')) {
          throw new DomainError('forbidden', 'The scope `admin` is for administrators and moderators.')
        }
        if (user.tokens >= MAX_TOKENS) throw new DomainError('conflict', `There are ${MAX_TOKENS} tokens already: revoke one of them.`)
        const [row] = await unit.query<ApplicationTokenRow>(
          `insert into application_token (user_id, token_hash, name, scopes, expires_at, created_at)
           values ($1, $2, $3, $4, $5, $6) returning ${COLUMNS}`,
          [userId, sha256(token), name, scopes, expiresAt, unit.now],
        )
        if (!row) throw new Error('The token could not be stored.')
        const entity = { id: userId, applicationToken: name, scopes: scopes.join(', ') }
        unit.note({ domain: 'users', action: 'update', id: userId, entity })
        return { token, row }
      })
    },

    /** Takes effect at once on all processes. Throws `not_found`, also for a token of another user. */
    revoke(userId: number, id: number): Promise<void> {
      return tell({ aggregate: 'user', id: userId }, async (unit) => {
        const [row] = await unit.query<Columns<typeof ApplicationToken, 'name'>>(
          'delete from application_token where id = $1 and user_id = $2 returning name',
          [id, userId],
        )
        if (!row) throw notFound('Token not found')
        unit.note({ domain: 'users', action: 'update', id: userId, entity: { id: userId, revokedToken: row.name } })
        renewSessions(unit, { user: userId })
      })
    },
  }
}

/** A page of the user's tokens, the newest first, with the number of all. One statement. */
export async function listApplicationTokens(
  db: Pick<Database, 'query'>,
  { userId, start, count }: { userId: number; start: number; count: number },
): Promise<{ total: number; rows: ApplicationTokenRow[] }> {
  const rows = await db.query<ApplicationTokenRow & { total: number }>(
    `select counted.total, page.* from (select count(*)::int as total from application_token where user_id = $1) counted
     left join lateral (select ${COLUMNS} from application_token where user_id = $1 order by id desc limit $2 offset $3) page on true`,
    [userId, count, start],
  )
  return { total: rows[0]?.total ?? 0, rows: rows.filter((row) => row.id !== null) }
}
