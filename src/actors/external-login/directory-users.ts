// Users of directories who have application tokens: each is asked about once a day, also if no session is refreshed, so that tokens do not
// outlive their users there.

import type { LdapProvider } from '../../config/index.ts'
import { type ActorDeps, DomainError } from '../runtime/index.ts'
import { endSessions } from '../session/index.ts'
import { isAllowed } from './claims.ts'
import type { Identities, StoredIdentity } from './identity.commands.ts'
import type { Ldap } from './ldap.ts'

const JOB = 'directory-user'
const LOOK_EVERY_MS = 3_600_000
const ASK_EVERY_MS = 86_400_000
const MOST_AT_ONCE = 1000

export function makeDirectoryUsers(
  deps: Pick<ActorDeps, 'db' | 'tell' | 'clock' | 'config' | 'logger' | 'registry'> & {
    identities: Pick<Identities, 'byId' | 'update'>
    ldap: () => Promise<Pick<Ldap, 'find'>>
  },
) {
  const { db, tell, clock, config, logger, registry, identities, ldap } = deps

  const directoryOf = ({ provider }: StoredIdentity): LdapProvider | undefined =>
    config().vireo.auth.ldap.find(({ name }) => provider === `ldap:${name}`)

  /**
   * `there` after the role and the quota have been updated, `gone` if the directory has removed the user or names no allowed group,
   * `unknown` if nobody can tell. Throws `unavailable`.
   */
  async function ask(identity: StoredIdentity): Promise<'there' | 'gone' | 'unknown'> {
    const directory = directoryOf(identity)
    if (!directory) return 'unknown'
    const claims = await (await ldap()).find(directory, identity.login ?? '')
    if (claims === null) return 'unknown'
    if (!claims || claims.subject !== identity.subject || !isAllowed(directory, claims)) return 'gone'
    await identities.update(identity, directory, claims)
    return 'there'
  }

  registry.periodic('directory-users', {
    everyMs: () => LOOK_EVERY_MS,
    async run() {
      const providers = config().vireo.auth.ldap.map(({ name }) => `ldap:${name}`)
      if (providers.length === 0) return
      const now = clock.now()
      const due = await db.query<{ id: number }>(
        `select i.id from external_identity i join users u on u.id = i.user_id
         where i.provider = any($1) and i.gone_at is null and coalesce(i.asked_at, i.created_at) <= $2 and not u.blocked
           and exists (select 1 from application_token t where t.user_id = i.user_id and t.expires_at > $3)
         order by coalesce(i.asked_at, i.created_at) limit ${MOST_AT_ONCE}`,
        [providers, new Date(now.getTime() - ASK_EVERY_MS), now],
      )
      if (due.length === 0) return
      await tell.create(async (unit) => {
        for (const { id } of due) unit.enqueue({ type: JOB, data: { identityId: id }, dedupeKey: `${JOB}:${id}` })
      })
    },
  })

  registry.job(JOB, {
    queue: 'io',
    async run({ data }) {
      const identity = await identities.byId(Number(data.identityId))
      if (!identity) return
      try {
        if ((await ask(identity)) !== 'gone') return
      } catch (error) {
        if (!(error instanceof DomainError) || error.kind !== 'unavailable') throw error
        // It is asked again in an hour.
        return logger.warn({ err: error, login: identity.provider }, 'a directory could not be asked about a user with application tokens')
      }
      // Once: tokens of a login with a password of this server may follow.
      await tell({ aggregate: 'user', id: identity.user_id }, async (unit) => {
        await unit.query('update external_identity set gone_at = $2 where id = $1', [identity.id, unit.now])
        await endSessions(unit, identity.user_id)
      })
    },
  })

  return { ask }
}
