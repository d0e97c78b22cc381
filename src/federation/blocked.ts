// Enforces the instance's blocks: nothing is accepted or fetched from blocked servers and actors, and nothing is sent to them except the
// end of follows.

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

export type Blocked = ReturnType<typeof makeBlocked>

export type { Blocks } from '../actors/blocklist/index.ts'

/** The refusal to accept or fetch something of a blocked actor. */
export const blockedHere = (url: string): DomainError => new DomainError('forbidden', `${url} is blocked here.`)

export function makeBlocked({ query }: { query: Sql }) {
  // Called for each activity, fetch and delivery: concurrent calls share a statement.
  const hostOf = batched<string, boolean>((hosts) => blockedHosts(query, hosts), { max: ASKED_AT_ONCE })
  const both = batched<{ host: string; url: string }, Blocks>((asked) => blocksOf(query, asked), { max: ASKED_AT_ONCE })
  const ownerOf = batched<string, boolean>((urls) => ownedByBlocked(query, urls), { max: ASKED_AT_ONCE })
  const nameIn = (url: string) => URL.parse(url)?.host ?? ''
  /** True if the server of an address is blocked. */
  const host = (url: string) => hostOf(nameIn(url))
  /** True if an actor, its account or its server is blocked. */
  async function actor(url: string): Promise<boolean> {
    const { isServer, isActor } = await of(url)
    return isServer || isActor
  }
  /** The same, with the reasons. */
  const of = (actorUrl: string): Promise<Blocks> => both({ host: nameIn(actorUrl), url: actorUrl })
  return {
    host,
    actor,
    of,
    /** The same for the owner of a key. For an unknown key, its server and the actor in its id are checked. */
    async ofKey(keyId: string, find: FindKey): Promise<Blocks & { owner: string }> {
      const owner = (await find(keyId))?.owner
      if (owner !== undefined) return { owner, ...(await of(owner)) }
      const named = keyId.split('#', 1)[0] ?? keyId
      return { owner: named, ...(await both({ host: hostOfKey(keyId) ?? '', url: named })) }
    },
    /** The same for a video by its URL: its server, and its owner if it is stored here. */
    async ofThing(url: string): Promise<Blocks> {
      const [isServer, isActor] = await Promise.all([host(url), ownerOf(url)])
      return { isServer, isActor }
    },
    /** Throws DomainError `forbidden` for a blocked actor. */
    async refuseActor(url: string) {
      if (await actor(url)) throw blockedHere(url)
    },
  }
}

/** A fetcher that refuses blocked servers, also as targets of redirects. Deliveries have their own rule. */
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

/** A fetcher that refuses all requests while federation is disabled, so that jobs retry later. */
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
 * Sends nothing to blocked servers except the end of a follow, and nothing at all while federation is disabled: queued deliveries are
 * dropped.
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

/** True for a Reject of a follow, or the Undo of one: without it, the other side would believe in the follow until the block ends. */
export function isFarewell({ type, object }: JsonObject): boolean {
  const inner = typeof object === 'object' && object !== null && 'type' in object ? object.type : undefined
  return inner === 'Follow' && (type === 'Reject' || type === 'Undo')
}
