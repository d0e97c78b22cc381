// Limits the work that a server causes in the name of others: a group forwards as many activities, of as many actors, as it likes, and each
// may need a fetch from a third server or a signature check.

import { DomainError } from '../../actors/runtime/index.ts'
import { makeLru } from '../../platform/lru.ts'
import type { FederationDeps } from '../deps.ts'
import { domainOf } from '../fetch/new-hosts.ts'
import { makeAllowance } from './allowance.ts'

export type ThirdPartyLimits = ReturnType<typeof makeThirdPartyLimits>

/** Limit of cached failures. */
const MISSES = 10_000

export function makeThirdPartyLimits({ clock, config }: Pick<FederationDeps, 'clock' | 'config'>) {
  const settings = () => config().vireo.federation.inbox
  const fetches = makeAllowance({ clock, perMinute: () => settings().fetches_per_domain })
  const proofs = makeAllowance({ clock, perMinute: () => settings().proofs_per_host })
  const misses = makeLru<string, { at: number; error: unknown }>(MISSES)

  return {
    /**
     * Runs `get`, which fetches from `url` because the actor `by` named it. Throws DomainError `busy` if its domain has caused too many
     * fetches in this minute. Repeats the error of the same fetch for a moment.
     */
    async fetch<T>(by: string, url: string, get: () => Promise<T>): Promise<T> {
      const { host } = new URL(by)
      // Fetches from its own host are not limited.
      if (new URL(url).host === host) return await get()
      const miss = misses.get(url)
      if (miss && clock.now().getTime() - miss.at < settings().key_refetch_after) throw miss.error
      if (!fetches.admits(domainOf(host))) throw new DomainError('busy', `${host} has us fetch too much from others.`)
      try {
        return await get()
      } catch (error) {
        misses.set(url, { at: clock.now().getTime(), error })
        throw error
      }
    },
    /** Throws DomainError `busy` if too many signatures in activities forwarded by `by` were checked in this minute. */
    admitProof(by: string) {
      const { host } = new URL(by)
      if (!proofs.admits(host)) throw new DomainError('busy', `${host} passes on too much that is signed.`)
    },
  }
}
