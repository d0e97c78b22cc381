// Reads of identities in other systems.

import type { Config } from '../../config/index.ts'
import type { Database } from '../../platform/database/index.ts'

/** True if some administrator has logged in with one of these systems, and so can without a password of this server. */
export async function hasExternalAdministrator(
  db: Pick<Database, 'query'>,
  { openid_connect, ldap }: Pick<Config['vireo']['auth'], 'openid_connect' | 'ldap'>,
): Promise<boolean> {
  const providers = [...openid_connect.map(({ name }) => `openid-connect:${name}`), ...ldap.map(({ name }) => `ldap:${name}`)]
  const rows = await db.query(
    `select 1 from users u join external_identity i on i.user_id = u.id
     where u.role = 0 and not u.blocked and i.provider = any($1) limit 1`,
    [providers],
  )
  return rows.length > 0
}
