// Logins with other systems while the server runs: the keys below `vireo.auth`, with their names of the configuration. Secrets are taken and
// never shown.

import { z } from 'zod'
import { hasExternalAdministrator } from '../../actors/external-login/index.ts'
import { DomainError } from '../../actors/runtime/index.ts'
import { type Change, changesOf } from '../../actors/runtime-config/index.ts'
import { type Config, type LdapProvider, ldapProvider, type OpenIdProvider, openIdProvider } from '../../config/index.ts'
import type { Database } from '../../platform/database/index.ts'

const MOST = 50
const secret = z.string().max(1000).nullish()

const sentProvider = openIdProvider.extend({ client_secret: secret })
const sentDirectory = ldapProvider.extend({ bind_password: secret })

export const loginsBody = z.object({
  local_passwords: z.boolean().optional(),
  openid_connect: z.array(sentProvider).max(MOST).optional(),
  ldap: z.array(sentDirectory).max(MOST).optional(),
})

export const loginsView = z
  .object({
    local_passwords: z.boolean(),
    openid_connect: z.array(z.object(openIdProvider.omit({ client_secret: true }).shape)),
    ldap: z.array(z.object(ldapProvider.omit({ bind_password: true }).shape)),
  })
  .meta({ id: 'Logins' })

export const toLoginsView = ({ vireo: { auth } }: Config): z.infer<typeof loginsView> => loginsView.parse(auth)

/**
 * The changed keys. What is left out stays: secrets too, as long as they go where they went before. Throws `invalid` for what would lock the
 * administrators out.
 */
export async function loginChanges(
  sent: z.infer<typeof loginsBody>,
  { config, db }: { config: Config; db: Pick<Database, 'query'> },
): Promise<Change[]> {
  const { auth } = config.vireo
  const files = new Set(auth.ldap.map(({ ca }) => ca))
  const foreign = sent.ldap?.find(({ ca }) => ca !== null && !files.has(ca))
  if (foreign) throw new DomainError('invalid', 'ca names a file of the server: it is set in the configuration of the server only.')
  const next = {
    local_passwords: sent.local_passwords ?? auth.local_passwords,
    openid_connect: sent.openid_connect?.map((one) => withClientSecret(one, auth.openid_connect)) ?? auth.openid_connect,
    ldap: sent.ldap?.map((one) => withPassword(one, auth.ldap)) ?? auth.ldap,
  }
  if (!next.local_passwords && !(await hasExternalAdministrator(db, next))) {
    throw new DomainError('invalid', 'Nobody could administrate: first log in as an administrator with another system that stays.')
  }
  return changesOf({ vireo: { auth: next } })
}

function withClientSecret(
  { client_secret: given, ...provider }: z.infer<typeof sentProvider>,
  present: readonly OpenIdProvider[],
): OpenIdProvider {
  const before = present.find(({ name }) => name === provider.name)
  const isSame = before?.discovery_url === provider.discovery_url && before.client_id === provider.client_id
  return { ...provider, client_secret: kept(given, before?.client_secret, { isSame, name: 'client_secret' }) }
}

function withPassword(
  { bind_password: given, ...directory }: z.infer<typeof sentDirectory>,
  present: readonly LdapProvider[],
): LdapProvider {
  const before = present.find(({ name }) => name === directory.name)
  const isSame = (['url', 'start_tls', 'ca', 'bind_dn'] as const).every((key) => before?.[key] === directory[key])
  return { ...directory, bind_password: kept(given, before?.bind_password, { isSame, name: 'bind_password' }) ?? '' }
}

/** A present secret goes to no other address: whoever may change the address may not read it. */
function kept(
  given: string | null | undefined,
  before: string | null | undefined,
  { isSame, name }: { isSame: boolean; name: string },
): string | null {
  if (given !== undefined || !before) return given ?? null
  if (isSame) return before
  throw missingSecret(name)
}

export const missingSecret = (name: string): DomainError =>
  new DomainError('invalid', `${name} is missing: it is asked again with another address or account.`)
