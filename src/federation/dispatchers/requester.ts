// Identifies the requester of a document: the one place that decides whether a read is refused or needs a signature. A known key is checked
// at once. For an unknown or replaced key, the signer is fetched once, and each host at most once a minute.

import { DomainError } from '../../actors/runtime/index.ts'
import type { Config } from '../../config/index.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Database } from '../../platform/database/index.ts'
import { makeLru } from '../../platform/lru.ts'
import type { Blocked } from '../blocked.ts'
import type { ResolveActor } from '../fetch/actors.ts'
import { claimedKeyId, type HeaderValues, type InboundVerdict, verifyInbound } from '../security/index.ts'
import type { KeyStore } from '../security/key-store.ts'
import type { Urls } from '../urls.ts'

/** `actor` is the address of the signer. */
export type Requester = { kind: 'anybody' } | { kind: 'signed'; actor: string }

export interface ReadRequest {
  method: string
  /** Path and query. */
  url: string
  /** The same as sent, which signatures cover; `url` by default. */
  signedUrl?: string
  headers: HeaderValues
}

const FETCH_EVERY_MS = 60_000
const MAX_HOSTS = 10_000

export function makeRequesters(deps: {
  db: Pick<Database, 'query'>
  config: () => Config
  clock: Clock
  urls: Urls
  keys: KeyStore
  resolveActor: ResolveActor
}) {
  const { db, config, clock, urls, keys, resolveActor } = deps
  const fetched = makeLru<string, number>(MAX_HOSTS)
  const now = () => clock.now().getTime()

  const verify = ({ method, url, signedUrl = url, headers }: ReadRequest) =>
    verifyInbound({
      method,
      headers,
      url: `${urls.origin}${signedUrl}`,
      rawBody: Buffer.alloc(0),
      now: clock.now(),
      skewMs: config().vireo.federation.inbox.clock_skew,
      findKey: keys.find,
    })

  /** The signer whose key is worth a fetch; undefined if the refusal is final, or if the host was asked recently. */
  function signerToFetch(verdict: InboundVerdict & { ok: false }): string | undefined {
    const keyId = verdict.reason === 'unknown-key' ? verdict.unknownKey : replacedKey(verdict)
    const signer = keyId?.split('#', 1)[0]
    const host = signer === undefined ? undefined : URL.parse(signer)?.host
    if (signer === undefined || !host || urls.isLocal(signer)) return undefined
    if (now() - (fetched.get(host) ?? Number.NEGATIVE_INFINITY) < FETCH_EVERY_MS) return undefined
    fetched.set(host, now())
    return signer
  }

  function replacedKey(verdict: InboundVerdict & { ok: false }): string | undefined {
    if (verdict.reason !== 'bad-signature' || !verdict.key) return undefined
    const isOld = now() - verdict.key.fetchedAt.getTime() > config().vireo.federation.inbox.key_refetch_after
    return isOld ? verdict.keyId : undefined
  }

  async function identify(request: ReadRequest, mayAsk: (host: string) => Promise<boolean>): Promise<string> {
    let verdict = await verify(request)
    const signer = verdict.ok ? undefined : signerToFetch(verdict)
    if (signer !== undefined && (await mayAsk(new URL(signer).host))) {
      try {
        await resolveActor(signer, { maxAgeMs: config().vireo.federation.inbox.key_refetch_after })
        verdict = await verify(request)
      } catch (error) {
        if (!(error instanceof DomainError)) throw error
      }
    }
    if (verdict.ok) return verdict.owner
    throw new DomainError('unauthenticated', `This needs the signature of an actor: ${verdict.reason}.`)
  }

  async function isKnown(host: string): Promise<boolean> {
    return (await db.query('select 1 from remote_host where host = $1', [host])).length > 0
  }

  return {
    /**
     * The actor that signed, from a known server: only those have something to read here, and unknown servers must not cause key fetches.
     * Throws DomainError `unauthenticated` without a valid signature.
     */
    signerOf(request: ReadRequest) {
      return identify(request, isKnown)
    },
    /**
     * The requester, if this server needs to know: anybody, unless `vireo.federation.authorized_fetch` is enabled. Then it throws
     * DomainError `unauthenticated` without a valid signature.
     */
    async whoAsks(request: ReadRequest): Promise<Requester> {
      if (!config().vireo.federation.authorized_fetch) return { kind: 'anybody' }
      return { kind: 'signed', actor: await identify(request, async () => true) }
    },
  }
}

/**
 * Throws DomainError `forbidden` if the claimed reader is blocked here. The signature need not be checked for that: nobody gains by such a
 * lie, and a false name has no valid signature later.
 */
export async function refuseBlockedReader(
  headers: HeaderValues,
  { keys, blocked }: { keys: Pick<KeyStore, 'find'>; blocked: Blocked },
): Promise<void> {
  const keyId = claimedKeyId(headers)
  if (keyId === undefined) return
  const { isServer, isActor } = await blocked.ofKey(keyId, keys.find)
  if (isServer || isActor) throw new DomainError('forbidden', 'This server does not answer you.')
}
