// Limits the number of unknown servers: the owner of a domain has any number of subdomains, each of which would need a row, a key fetch and
// a request for its software.

import { DomainError } from '../../actors/runtime/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { makeLru } from '../../platform/lru.ts'
import type { FederationDeps } from '../deps.ts'

/** Limit of cached domains. */
const DOMAINS = 10_000
const HOUR_MS = 3_600_000

export function makeNewHosts({ db, clock, config }: Pick<FederationDeps, 'clock' | 'config'> & { db: Pick<Database, 'query'> }) {
  const seen = makeLru<string, { since: number; hosts: number }>(DOMAINS)
  const unknown = makeLru<string, true>(DOMAINS)

  function windowOf(host: string) {
    const now = clock.now().getTime()
    const known = seen.get(domainOf(host))
    return known && Math.abs(now - known.since) < HOUR_MS ? known : { since: now, hosts: 0 }
  }

  return {
    /** Throws DomainError `unavailable` for an unknown host if its domain has many new hosts already. */
    async admit(host: string) {
      const name = host.toLowerCase()
      const known = await db.query('select 1 from remote_host where host = $1', [name])
      if (known.length > 0) return
      if (windowOf(name).hosts >= config().vireo.federation.inbox.new_hosts_per_domain) {
        throw new DomainError('unavailable', `Too many servers of ${domainOf(name)} are new.`)
      }
      unknown.set(name, true)
    },
    /** Counts a host that was admitted and is stored now, if it was unknown. */
    note(host: string) {
      const name = host.toLowerCase()
      if (!unknown.delete(name)) return
      const window = windowOf(name)
      seen.set(domainOf(name), { ...window, hosts: window.hosts + 1 })
    },
  }
}

/** The registrable domain, approximately: the last two labels of a name, three if the second one is short, as in `co.uk`. */
export function domainOf(host: string): string {
  const name = URL.parse(`http://${host}`)?.hostname ?? host
  if (name.startsWith('[') || /^[\d.]+$/.test(name)) return name
  const labels = name.split('.')
  const isCountry = (labels.at(-1)?.length ?? 0) === 2 && (labels.at(-2)?.length ?? 0) <= 3
  return labels.slice(isCountry ? -3 : -2).join('.')
}
