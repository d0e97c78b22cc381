// What a server may make us do for what others said: a group passes on as much as it likes, in the names of whomever it likes,
// and each may have to be asked for at a third server, or have its signature checked.

import { DomainError } from '../../actors/runtime/index.ts'
import { makeLru } from '../../platform/lru.ts'
import type { FederationDeps } from '../deps.ts'
import { domainOf } from '../fetch/new-hosts.ts'
import { makeAllowance } from './allowance.ts'

export interface ForOthers {
  /**
   * What `get` fetches from `url` because `by`, the address of an actor, named it. Throws DomainError `busy` when its domain
   * has caused too much of that in this minute, and for a moment anew what the same fetch threw before.
   */
  fetch<T>(by: string, url: string, get: () => Promise<T>): Promise<T>
  /** Throws DomainError `busy` when too many signatures inside what `by` passed on were checked in this minute. */
  admitProof(by: string): void
}

/** Remembered at most. */
const MISSES = 10_000

export function makeForOthers({ clock, config }: Pick<FederationDeps, 'clock' | 'config'>): ForOthers {
  const settings = () => config().vireo.federation.inbox
  const fetches = makeAllowance({ clock, perMinute: () => settings().fetches_per_domain })
  const proofs = makeAllowance({ clock, perMinute: () => settings().proofs_per_host })
  const misses = makeLru<string, { at: number; error: unknown }>(MISSES)

  return {
    async fetch(by, url, get) {
      const { host } = new URL(by)
      // What is its own it may have us ask for.
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
    admitProof(by) {
      const { host } = new URL(by)
      if (!proofs.admits(host)) throw new DomainError('busy', `${host} passes on too much that is signed.`)
    },
  }
}
