// Identities in other systems, and the users they lead to: finds, links, makes and updates them. All kinds of providers end here, so that one
// place decides.

import type { Columns } from '../../platform/database/index.ts'
import { randomToken } from '../../platform/ids.ts'
import type { Passwords } from '../../platform/passwords.ts'
import { freeActorName } from '../actor/index.ts'
import { type ActorDeps, DomainError } from '../runtime/index.ts'
import { type ManageUsers, type Users, userRoles } from '../user/index.ts'
import type { User } from '../user/user.entity.ts'
import { type Claims, isAllowed, type ProviderRules, roleOf } from './claims.ts'
import type { ExternalIdentity } from './external-login.entity.ts'

/** The names under which clients know the kinds, as those of plugins. */
export const kinds = {
  'openid-connect': { name: 'vireo-openid-connect', npmName: 'peertube-plugin-vireo-openid-connect' },
  ldap: { name: 'vireo-ldap', npmName: 'peertube-plugin-vireo-ldap' },
} as const

export type StoredIdentity = Columns<typeof ExternalIdentity, 'id' | 'userId' | 'provider' | 'subject' | 'login'> &
  Columns<User, 'username' | 'role' | 'videoQuota'>

/** Who says who somebody is. */
export interface Provider {
  /** Kind and name, such as `ldap:company`. */
  id: string
  /** The plugin of the users who are made. */
  npmName: string
  rules: ProviderRules
}

/** The operator's configuration decides about roles and quotas, as an administrator does. */
const OPERATOR = { id: 0, sessionId: 0, role: userRoles.administrator }
const PASSWORD_BYTES = 20
const LONGEST_LOCAL_NAME = 50

const SELECT = `select i.id, i.user_id, i.provider, i.subject, i.login, u.username, u.role, u.video_quota
  from external_identity i join users u on u.id = i.user_id`

export type Identities = ReturnType<typeof makeIdentities>

export function makeIdentities(
  deps: Pick<ActorDeps, 'db' | 'tell' | 'clock'> & {
    users: Pick<Users, 'create'> & Pick<ManageUsers, 'update'>
    passwords: Pick<Passwords, 'hash'>
  },
) {
  const { db, tell, clock, users, passwords } = deps

  async function find(provider: string, subject: string): Promise<StoredIdentity | undefined> {
    const [row] = await db.query<StoredIdentity>(`${SELECT} where i.provider = $1 and i.subject = $2`, [provider, subject])
    return row
  }

  /**
   * With a plain user whose address both sides have verified: an address that nobody verified here may be that of somebody who waits for its
   * owner. One whom the provider knows under another id stays apart: the address may have a new owner there.
   */
  async function link({ id, rules }: Provider, claims: Claims, login: string | null): Promise<StoredIdentity | undefined> {
    const { email, emailVerified, subject } = claims
    if (!rules.link_by_email || !emailVerified || email === null) return undefined
    await db.query(
      `insert into external_identity (user_id, provider, subject, login, created_at)
       select id, $2, $3, $4, $5 from users where lower(email) = lower($1) and email_verified and state <> 'deleted' and role = ${userRoles.user}
         and not exists (select 1 from external_identity known where known.user_id = users.id and known.provider = $2)
       on conflict (provider, subject) do nothing`,
      [email, id, subject, login, clock.now()],
    )
    return await find(id, subject)
  }

  /**
   * Notes that the user is there, and gives the user the role and the quota that the claims say. The first administrator stays one, so that
   * there always is one.
   */
  async function update(known: StoredIdentity, rules: ProviderRules, claims: Claims): Promise<void> {
    const role = known.username === 'root' ? undefined : roleOf(rules, claims)
    const changes = {
      ...(role === undefined || role === known.role ? {} : { role }),
      ...(claims.quota === null || claims.quota === known.video_quota ? {} : { videoQuota: claims.quota }),
    }
    if (Object.keys(changes).length > 0) await users.update(known.user_id, OPERATOR, changes)
    await db.query('update external_identity set asked_at = $2, gone_at = null where id = $1', [known.id, clock.now()])
  }

  async function create({ id, npmName, rules }: Provider, claims: Claims, login: string | null): Promise<void> {
    const { email, emailVerified, subject, quota, displayName } = claims
    if (email === null || !emailVerified) throw new DomainError('forbidden', 'The provider has verified no e-mail address of the user.')
    await users.create(
      {
        username: await freeActorName(db.query, claims.username, LONGEST_LOCAL_NAME),
        password: { hash: await passwords.hash(randomToken(PASSWORD_BYTES)) },
        email,
        emailVerified: true,
        role: roleOf(rules, claims) ?? userRoles.user,
        displayName,
        pluginAuth: npmName,
        ...(quota === null ? {} : { videoQuota: quota }),
      },
      {
        transact: (insert) =>
          tell.create(async (unit) => {
            const made = await insert(unit)
            await unit.query('insert into external_identity (user_id, provider, subject, login, created_at) values ($1, $2, $3, $4, $5)', [
              made.id,
              id,
              subject,
              login,
              unit.now,
            ])
            return made
          }),
      },
    )
  }

  return {
    /** Makes or changes the user as the claims say. Throws `forbidden` and `conflict`, which say why somebody may not log in. */
    async enter(provider: Provider, claims: Claims, login: string | null): Promise<StoredIdentity> {
      const { id, rules } = provider
      if (!isAllowed(rules, claims)) throw new DomainError('forbidden', 'No group of the user may log in.')
      const known = (await find(id, claims.subject)) ?? (await link(provider, claims, login))
      if (known) {
        await update(known, rules, claims)
        // The name by which the directory knows the user may have changed since.
        if (login !== known.login) await db.query('update external_identity set login = $2 where id = $1', [known.id, login])
        return known
      }
      const refusal = await create(provider, claims, login).catch((error: unknown) => error)
      // A concurrent first login has made the user.
      const made = await find(id, claims.subject)
      if (made) return made
      throw refusal
    },

    async byId(id: number): Promise<StoredIdentity | undefined> {
      const [row] = await db.query<StoredIdentity>(`${SELECT} where i.id = $1`, [id])
      return row
    },

    update,
  }
}
