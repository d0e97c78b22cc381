// What the instance's blocks mean here: from blocked servers and actors nothing is taken, of them nothing is fetched, to
// them nothing is sent but the end of follows.

import { type Blocks, blockedHosts, blocksOf, ownedByBlocked } from '../actors/blocklist/index.ts'
import type { Send } from '../actors/delivery/index.ts'
import { DomainError } from '../actors/runtime/index.ts'
import type { Config } from '../config/index.ts'
import { batched } from '../platform/batched.ts'
import type { Sql } from '../platform/database/index.ts'
import { FetchError, type FetchRequest, type GuardedFetch } from '../platform/fetch/index.ts'
import { type FindKey, hostOfKey } from './security/index.ts'
import type { JsonObject } from './wire/index.ts'

const ASKED_AT_ONCE = 100

export interface Blocked {
  /** Whether the server of an address is blocked. */
  host(url: string): Promise<boolean>
  /** Whether an actor, its account or its server is blocked. */
  actor(url: string): Promise<boolean>
  /** The same, and which of them it is. */
  of(actorUrl: string): Promise<Blocks>
  /** The same of whose key it is; of a key that is not known, of its server and of the actor that it is named after. */
  ofKey(keyId: string, find: FindKey): Promise<Blocks & { owner: string }>
  /** The same of a video by its address: its server, and its owner as far as it is known here. */
  ofThing(url: string): Promise<Blocks>
  /** Throws DomainError `forbidden` for a blocked actor. */
  refuseActor(url: string): Promise<void>
}

export type { Blocks } from '../actors/blocklist/index.ts'

/** Why nothing is taken from an actor, or fetched of it. */
export const blockedHere = (url: string): DomainError => new DomainError('forbidden', `${url} is blocked here.`)

export function makeBlocked({ query }: { query: Sql }): Blocked {
  // Asked of each activity, fetch and delivery: those of the same moment share a statement.
  const hostOf = batched<string, boolean>((hosts) => blockedHosts(query, hosts), { max: ASKED_AT_ONCE })
  const both = batched<{ host: string; url: string }, Blocks>((asked) => blocksOf(query, asked), { max: ASKED_AT_ONCE })
  const ownerOf = batched<string, boolean>((urls) => ownedByBlocked(query, urls), { max: ASKED_AT_ONCE })
  const nameIn = (url: string) => URL.parse(url)?.host ?? ''
  const host = (url: string) => hostOf(nameIn(url))
  const of = (url: string) => both({ host: nameIn(url), url })
  async function actor(url: string): Promise<boolean> {
    const { isServer, isActor } = await of(url)
    return isServer || isActor
  }
  return {
    host,
    actor,
    of,
    async ofKey(keyId, find) {
      const owner = (await find(keyId))?.owner
      if (owner !== undefined) return { owner, ...(await of(owner)) }
      const named = keyId.split('#', 1)[0] ?? keyId
      return { owner: named, ...(await both({ host: hostOfKey(keyId) ?? '', url: named })) }
    },
    async ofThing(url) {
      const [isServer, isActor] = await Promise.all([host(url), ownerOf(url)])
      return { isServer, isActor }
    },
    async refuseActor(url) {
      if (await actor(url)) throw blockedHere(url)
    },
  }
}

/** The fetcher without blocked servers, also at the end of a redirection. Deliveries have their own rule. */
export function fetchUnblocked(http: GuardedFetch, db: { query: Sql }): GuardedFetch {
  const blocked = makeBlocked(db)
  async function refuse(url: string): Promise<void> {
    if (await blocked.host(url)) throw new FetchError('refused-url', url, { message: 'a blocked server' })
  }
  const guarded = (request: FetchRequest = {}): FetchRequest => ({
    ...request,
    async onRedirect(next) {
      await refuse(next.url)
      return (await request.onRedirect?.(next)) ?? {}
    },
  })
  return {
    ...http,
    async fetch(url, request) {
      if (request?.method !== 'POST') await refuse(url)
      return await http.fetch(url, guarded(request))
    },
    async stream(url, request) {
      await refuse(url)
      return await http.stream(url, guarded(request))
    },
  }
}

/** The fetcher while federation is enabled. Disabled, it asks nobody; what needs an answer can be tried again. */
export function fetchWhileEnabled(http: GuardedFetch, { config }: { config: () => Config }): GuardedFetch {
  function refuse(url: string): void {
    if (!config().federation.enabled) throw new FetchError('aborted', url, { message: 'federation is disabled' })
  }
  return {
    ...http,
    async fetch(url, request) {
      refuse(url)
      return await http.fetch(url, request)
    },
    async stream(url, request) {
      refuse(url)
      return await http.stream(url, request)
    },
  }
}

/**
 * Sends to blocked servers nothing but the end of a follow, and nothing at all while federation is disabled: what was on its way is
 * let go.
 */
export function sendUnblocked(send: Send, { blocked, config }: { blocked: Blocked; config: () => Config }): Send {
  return async (delivery, profile, signal) => {
    if (!config().federation.enabled) return { answer: 'blocked', error: 'Federation is disabled.' }
    if ((await blocked.host(delivery.inboxUrl)) && !isFarewell(JSON.parse(delivery.body))) {
      return { answer: 'blocked', error: 'The server is blocked.' }
    }
    return await send(delivery, profile, signal)
  }
}

/** A Reject of a follow, or the Undo of one: without it, the other side would believe in it until the end of the block. */
export function isFarewell({ type, object }: JsonObject): boolean {
  const inner = typeof object === 'object' && object !== null && 'type' in object ? object.type : undefined
  return inner === 'Follow' && (type === 'Reject' || type === 'Undo')
}
