// Login with LDAP: the account of the service finds the entry of a user, and a bind as that entry checks the password (RFC 4511, 4.2).

import { readFile } from 'node:fs/promises'
import { Client, type Entry, Filter, ResultCodeError } from 'ldapts'
import type { LdapProvider } from '../../config/index.ts'
import { DomainError } from '../runtime/index.ts'
import { type Claims, readClaims } from './claims.ts'

/** For the connection, and for each answer. */
const TIMEOUT_MS = 5000
const LONGEST_LOGIN = 255
/** Result codes of a server that cannot answer now (RFC 4511, 4.1.9): busy and unavailable. */
const OUTAGES: ReadonlySet<number> = new Set([51, 52])

export type Ldap = ReturnType<typeof makeLdap>

export function makeLdap() {
  return {
    /** Undefined for an unknown user and for a wrong password. Throws `unavailable`. */
    async check(provider: LdapProvider, login: string, password: string): Promise<Claims | undefined> {
      // A bind without a password is anonymous, and succeeds (RFC 4513, 5.1.2).
      if (password === '') return undefined
      return await using(provider, async (client) => {
        const [entry, another] = await findEntries(client, provider, login)
        // With several nobody can tell whose password is meant.
        return entry && !another && (await binds(client, entry.dn, password)) ? claimsOf(entry, provider) : undefined
      })
    },

    /** Undefined for an unknown user, null if nobody can tell: there are several entries, or the entry has no id. Throws `unavailable`. */
    find(provider: LdapProvider, login: string): Promise<Claims | null | undefined> {
      return using(provider, async (client) => {
        const [entry, another] = await findEntries(client, provider, login)
        if (another) return null
        return entry && (claimsOf(entry, provider) ?? null)
      })
    },
  }
}

async function using<T>(provider: LdapProvider, act: (client: Client) => Promise<T>): Promise<T> {
  let client: Client | undefined
  try {
    const { protocol, hostname } = new URL(provider.url)
    const tls = { host: hostname, ...(provider.ca === null ? {} : { ca: await readFile(provider.ca) }) }
    client = new Client({
      url: provider.url,
      timeout: TIMEOUT_MS,
      connectTimeout: TIMEOUT_MS,
      // With any options the client begins with TLS, whatever the scheme.
      ...(protocol === 'ldaps:' ? { tlsOptions: tls } : {}),
    })
    if (provider.start_tls) await client.startTLS(tls)
    return await act(client)
  } catch (cause) {
    throw new DomainError('unavailable', 'The directory of users cannot be asked now.', { cause })
  } finally {
    await client?.unbind().catch(() => undefined)
  }
}

async function findEntries(client: Client, provider: LdapProvider, login: string): Promise<Entry[]> {
  if (login === '' || login.length > LONGEST_LOGIN) return []
  if (provider.bind_dn !== '') await client.bind(provider.bind_dn, provider.bind_password)
  const escaped = Filter.escape(login)
  const { id } = provider.attributes
  const { searchEntries } = await client.search(provider.search_base, {
    scope: 'sub',
    filter: provider.filter.replaceAll('{username}', () => escaped),
    attributes: Object.values(provider.attributes).filter((name) => name !== null),
    // Of Active Directory: 16 bytes.
    explicitBufferAttributes: id === 'objectGUID' ? [id] : [],
  })
  return searchEntries
}

async function binds(client: Client, dn: string, password: string): Promise<boolean> {
  try {
    await client.bind(dn, password)
    return true
  } catch (error) {
    if (error instanceof ResultCodeError && !OUTAGES.has(error.code)) return false
    throw error
  }
}

function claimsOf(entry: Entry, { attributes, trust_email }: LdapProvider): Claims | undefined {
  const at = (name: string | null): unknown => {
    const value = name === null ? undefined : entry[name]
    return Buffer.isBuffer(value) ? value.toString('hex') : value
  }
  const { id, username, email, display_name, groups, quota } = attributes
  const values = { username: at(username), email: at(email), displayName: at(display_name), groups: at(groups) ?? [], quota: at(quota) }
  return readClaims({ subject: at(id), ...values }, trust_email)
}
