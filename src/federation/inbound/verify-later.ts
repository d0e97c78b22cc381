// Verifies an activity whose key was unknown on arrival: fetches its actor, at most once a minute, and checks the signature as of the time
// of arrival.

import { z } from 'zod'
import type { StoredActivity, Verification } from '../../actors/incoming-activity/index.ts'
import { makeLru } from '../../platform/lru.ts'
import type { FederationDeps } from '../deps.ts'
import type { ResolveActor } from '../fetch/actors.ts'
import type { Discovery } from '../fetch/discovery.ts'
import { isHopeless } from '../fetch/documents.ts'
import { type KnownKey, verifyInbound } from '../security/index.ts'
import { parseDocument, readActivity } from '../wire/index.ts'
import { verifyEmbedded } from './embedded-signature.ts'
import { saidAt, subjectOf } from './order.ts'
import { type InboundPolicy, kindOf } from './policy/index.ts'

/** Limit of cached failures. */
const MISSES = 10_000

const signedParts = z.object({
  method: z.string(),
  url: z.string(),
  headers: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
  body: z.string(),
})

export function makeVerifyLater(
  deps: FederationDeps & { resolveActor: ResolveActor; discovery: Pick<Discovery, 'actorOf'>; policy: InboundPolicy },
): (activity: StoredActivity) => Promise<Verification> {
  const { keys, checks, clock, config, resolveActor, discovery } = deps

  /** Actors that could not be fetched: a flood of activities in their names causes no more fetches. */
  const misses = makeLru<string, { at: number; verification: Verification }>(MISSES)

  return async (activity) => {
    const verification = await look(activity)
    if (verification.result === 'forged') {
      const { type, actorUrl, activityId } = activity
      const about = { kind: kindOf({ type, object: null }), host: '', actorUrl, activityId }
      deps.policy.note({ ...about, verdict: 'drop', reason: 'unproven_sender' })
    }
    return verification
  }

  async function look(activity: StoredActivity): Promise<Verification> {
    const { key_refetch_after } = config().vireo.federation.inbox
    const miss = misses.get(activity.actorUrl)
    if (miss && clock.now().getTime() - miss.at < key_refetch_after) return miss.verification
    try {
      await resolveActor(activity.actorUrl, { maxAgeMs: key_refetch_after })
    } catch (error) {
      const verification = outcomeOf(error)
      misses.set(activity.actorUrl, { at: clock.now().getTime(), verification })
      return verification
    }
    try {
      return await check(activity)
    } catch (error) {
      return outcomeOf(error)
    }
  }

  function outcomeOf(error: unknown): Verification {
    const reason = error instanceof Error ? error.message : String(error)
    return { result: isHopeless(error) ? 'forged' : 'failed', reason }
  }

  /** A key may be named by the handle of its owner: its server resolves it then. */
  async function findKey(keyId: string, activity: StoredActivity): Promise<KnownKey | null> {
    if (!keyId.startsWith('acct:')) return await keys.findFresh(keyId)
    const actorUrl = await discovery.actorOf(keyId.slice('acct:'.length))
    return actorUrl === activity.actorUrl ? await keys.findFresh(actorUrl) : null
  }

  async function check(activity: StoredActivity): Promise<Verification> {
    const parts = signedParts.parse(activity.proof)
    const signer = await verifyInbound({
      method: parts.method,
      url: parts.url,
      headers: parts.headers,
      rawBody: Buffer.from(parts.body, 'base64'),
      now: activity.receivedAt,
      skewMs: config().vireo.federation.inbox.clock_skew,
      findKey: (keyId) => findKey(keyId, activity),
    })
    const document = parseDocument(Buffer.from(activity.body))
    if (!document.ok) return { result: 'forged', reason: document.problem }
    if (signer.ok && signer.owner === activity.actorUrl) {
      return { result: 'verified', saidAt: saidAt(document.value, activity.receivedAt), once: false }
    }
    const keepIdsMs = config().vireo.federation.inbox.keep_ids
    const embedded = await verifyEmbedded(document.value, {
      findKey: keys.findFresh,
      checks,
      now: activity.receivedAt,
      keepIdsMs,
    })
    if (!embedded.ok && embedded.reason === 'busy') return { result: 'failed', reason: 'too many signatures are checked' }
    if (embedded.ok && embedded.owner === activity.actorUrl) {
      const read = readActivity(embedded.document)
      if (!read.ok) return { result: 'forged', reason: read.problem }
      const { saidAt: time, document: body } = embedded
      return {
        result: 'verified',
        saidAt: time,
        once: true,
        believed: { body: JSON.stringify(body), subject: subjectOf(read.value) },
      }
    }
    return { result: 'forged', reason: signer.ok ? 'signed by another actor' : signer.reason }
  }
}
