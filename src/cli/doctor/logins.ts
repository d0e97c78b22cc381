// Logins: without passwords of this server, some administrator must be known to another system.

import { hasExternalAdministrator } from '../../actors/external-login/index.ts'
import { type Check, DATABASE_LIMIT, type Patient } from './check.ts'

export const loginsCheck: Check = {
  name: 'logins',
  limit: DATABASE_LIMIT,
  async run(patient, say) {
    const { local_passwords, openid_connect, ldap } = patient.loaded.config.vireo.auth
    // The check of the database says why it cannot be read.
    const stored = await readStored(patient).catch(() => undefined)
    // The API lets nobody lock out the administrators.
    if (stored?.isChanged) {
      return say.ok('Administrators have changed the logins while the server ran: GET /api/v1/vireo/logins shows them.')
    }
    const others = [...openid_connect, ...ldap]
    const names = others.map(({ name }) => name)
    if (local_passwords) {
      if (names.length === 0) return say.ok('Users log in with passwords of this server.')
      return say.ok(`Users log in with passwords of this server, and with ${names.join(', ')}.`)
    }
    const remedy = 'Set vireo.auth.local_passwords to true; `vireo reset-password` then sets a password.'
    if (names.length === 0) return say.problem('Nobody can log in: passwords are switched off, and there is no other login.', remedy)
    if (!stored) {
      const message = 'Passwords are switched off, and without the database nobody knows whether an administrator can log in.'
      return say.warning(message, 'Look again once the database can be used.')
    }
    if (stored.hasAdministrator) return say.ok(`Users log in with ${names.join(', ')} alone, and so does an administrator.`)
    const mapped = others.some(({ administrator_groups }) => administrator_groups.length > 0)
    const advice = mapped ? 'Log in with an account of one of `administrator_groups`, or set vireo.auth.local_passwords to true.' : remedy
    say.problem('No administrator can log in: passwords are switched off, and none has used another login.', advice)
  },
}

async function readStored({ loaded, database }: Patient): Promise<{ isChanged: boolean; hasAdministrator: boolean }> {
  const opened = await database()
  const [row] = await opened.query<{ auth?: unknown }>(`select overrides #> '{vireo,auth}' as auth from runtime_config where id = 1`)
  return { isChanged: Boolean(row?.auth), hasAdministrator: await hasExternalAdministrator(opened, loaded.config.vireo.auth) }
}
