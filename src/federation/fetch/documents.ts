// Remote documents: fetched with a signature of the instance actor, and trusted only at their own address.

import { type RemoteHosts, type SignatureProfile, signatureProfiles } from '../../actors/remote-host/index.ts'
import { DomainError } from '../../actors/runtime/index.ts'
import { isBadData } from '../../platform/database/index.ts'
import { FetchError } from '../../platform/fetch/index.ts'
import { makeLru } from '../../platform/lru.ts'
import type { FederationDeps } from '../deps.ts'
import { isSameOrigin, signOutgoing, trustFetched } from '../security/index.ts'
import { FETCHED_BOUNDS, type JsonObject, parseDocument } from '../wire/index.ts'

export interface FetchedDocument {
  document: JsonObject
  /** The id of the document, which is its address. */
  id: string
  /** The signature profile that its server accepts. */
  profile: SignatureProfile
  /** Time of the request: its owner may have changed it since. */
  askedAt: Date
}

/**
 * Fetches the ActivityPub document at a URL. Throws DomainError: `not_found` or `gone` as its server responds, `unavailable` if a retry may
 * help, `unprocessable` if the response is no such document.
 */
export type FetchDocument = (url: string) => Promise<FetchedDocument>

const ACCEPT = 'application/activity+json, application/ld+json; profile="https://www.w3.org/ns/activitystreams"'
const ACTIVITY_TYPES = /^application\/(?:activity\+json|ld\+json)\s*(?:;|$)/i

/** Signature profiles of hosts, cached for a minute. */
const PROFILES = 10_000
const PROFILE_MS = 60_000

export function makeFetchDocument(
  deps: FederationDeps & {
    instanceActorId: () => Promise<number>
    hosts: Pick<RemoteHosts, 'profileOf' | 'preferProfileOf'>
  },
): FetchDocument {
  const { http, keys, clock, config, urls, hosts } = deps
  const profiles = makeLru<string, SignatureProfile>(PROFILES, { ttl: PROFILE_MS })

  return async (url) => {
    const first = await get(url)
    switch (trustFetched({ id: first.id, fetchedFrom: first.url })) {
      case 'trusted':
        return first
      case 'refused':
        throw unusable(url, 'it has no usable id')
      case 'refetch': {
        const second = await get(first.id).catch((error: unknown) => {
          // A missing document at the other address says nothing about this one.
          const isNowhere = error instanceof DomainError && (error.kind === 'not_found' || error.kind === 'gone')
          throw isNowhere ? unusable(url, 'its id leads nowhere') : error
        })
        if (trustFetched({ id: second.id, fetchedFrom: second.url }) !== 'trusted') {
          throw unusable(url, 'its id leads elsewhere')
        }
        return second
      }
    }
  }

  async function get(url: string): Promise<FetchedDocument & { url: string }> {
    const askedAt = clock.now()
    if (isSameOrigin(url, urls.origin)) throw new DomainError('forbidden', `This server does not fetch from itself: ${url}`)
    const { answer, profile } = await knock(url)
    // Only its own server can report that something is gone.
    const isMissing = answer.status === 404 || answer.status === 410
    if (isMissing && new URL(answer.url).host !== new URL(url).host) throw unusable(url, 'it leads elsewhere')
    refuseStatus(url, answer.status)
    if (!ACTIVITY_TYPES.test(answer.headers['content-type'] ?? '')) throw unusable(url, 'it is no ActivityPub document')
    const document = parse(url, answer.body)
    return { document, id: typeof document.id === 'string' ? document.id : '', askedAt, url: answer.url, profile }
  }

  /** If the signature is refused, the other profile is tried once; if it works, it is used first for this host. */
  async function knock(url: string) {
    const { host } = new URL(url)
    const first = profiles.get(host) ?? (await hosts.profileOf(host))
    profiles.set(host, first)
    const answer = await signedGet(url, first)
    const other = signatureProfiles.find((profile) => profile !== first)
    const isRefused = answer.status === 401 || answer.status === 403
    if (!isRefused || !other || !config().federation.sign_federated_fetches) return { answer, profile: first }
    const second = await signedGet(url, other)
    if (second.status === 200) {
      profiles.set(host, other)
      await hosts.preferProfileOf(host, other)
    }
    return { answer: second, profile: other }
  }

  async function signedGet(url: string, profile: SignatureProfile) {
    const { timeout, max_document_size } = config().vireo.federation.fetch
    const headersFor = async (target: string) => ({
      ...(config().federation.sign_federated_fetches ? await sign(target, profile) : {}),
      accept: ACCEPT,
    })
    try {
      return await http.fetch(url, {
        headers: await headersFor(url),
        maxBytes: max_document_size,
        timeoutMs: timeout,
        onRedirect: (next) => headersFor(next.url),
      })
    } catch (error) {
      throw refusedFetch(url, error)
    }
  }

  async function sign(url: string, profile: SignatureProfile): Promise<Record<string, string>> {
    const key = await keys.forRequests(await deps.instanceActorId())
    return await signOutgoing({ method: 'GET', url, headers: { accept: ACCEPT }, key, profile, now: clock.now() })
  }
}

/** Translates a failed request for the caller. */
export function refusedFetch(url: string, error: unknown): Error {
  if (!(error instanceof FetchError)) return error instanceof Error ? error : new Error(String(error))
  const permanent = ['refused-url', 'refused-address', 'too-large', 'redirect'].includes(error.reason)
  return new DomainError(permanent ? 'unprocessable' : 'unavailable', `${url} cannot be fetched: ${error.reason}`, {
    cause: error,
  })
}

export function refuseStatus(url: string, status: number): void {
  if (status === 200) return
  if (status === 404) throw new DomainError('not_found', `${url} does not exist`)
  if (status === 410) throw new DomainError('gone', `${url} is gone`)
  if (status === 429 || status >= 500) throw new DomainError('unavailable', `${url} answered ${status}`)
  if (status === 401 || status === 403) throw new DomainError('forbidden', `${url} is not for us`)
  throw unusable(url, `it answered ${status}`)
}

/** True if a retry cannot change the refusal. */
export const isHopeless = (error: unknown): boolean =>
  error instanceof DomainError ? error.kind !== 'unavailable' && error.kind !== 'busy' : isBadData(error)

function parse(url: string, body: Buffer): JsonObject {
  const read = parseDocument(body, FETCHED_BOUNDS)
  if (!read.ok) throw unusable(url, `its JSON is ${read.problem}`)
  return read.value
}

const unusable = (url: string, why: string): DomainError => new DomainError('unprocessable', `${url} cannot be used: ${why}`)
