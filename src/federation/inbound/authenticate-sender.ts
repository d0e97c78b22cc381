// Authenticates the sender of an activity: by the signature of the request, or by one in the document, with known keys.

import type { IncomingActivities } from '../../actors/incoming-activity/index.ts'
import type { FederationDeps } from '../deps.ts'
import { hostOfKey, type InboundVerdict, isSameOrigin } from '../security/index.ts'
import type { ActivityDocument, JsonObject } from '../wire/index.ts'
import { makeAllowance } from './allowance.ts'
import { verifyEmbedded } from './embedded-signature.ts'
import { saidAt } from './order.ts'

/** How the sender is authenticated. `later`: the key has to be fetched first. */
export type Proof =
  | { by: 'known'; document: JsonObject; saidAt: Date | null; forwarded: boolean }
  | { by: 'later' }
  /** It had its effect already. */
  | { by: 'before' }
  | { by: 'nobody'; status: 401 | 403 | 413 | 429; reason: string }

const TOO_MANY: Proof = { by: 'nobody', status: 429, reason: 'too many signatures inside documents' }

export type AuthenticateSender = (
  activity: ActivityDocument,
  document: JsonObject,
  of: { signer: InboundVerdict; from: string },
) => Promise<Proof>

export function makeAuthenticateSender(deps: FederationDeps & { incoming: Pick<IncomingActivities, 'knows'> }): AuthenticateSender {
  const { keys, checks, clock, config, incoming } = deps
  const settings = () => config().vireo.federation.inbox
  // Checking a signature in a document is slow; a sender of invalid ones gets few checked.
  const failures = makeAllowance({ clock, perMinute: () => settings().failed_proofs_per_address })
  // Valid ones too: a server that forwards its own signed documents has any number of them.
  const proofs = makeAllowance({ clock, perMinute: () => settings().proofs_per_host })

  return async (activity, document, { signer, from }) => {
    if (signer.ok && signer.owner === activity.actor) {
      return { by: 'known', document, saidAt: saidAt(document, clock.now()), forwarded: false }
    }
    if (!signer.ok && signer.reason === 'unknown-key' && isOfServer(signer.unknownKey, activity.actor)) {
      // The author may be known though the sender is not: then nothing has to be stored for later.
      const inside = await proveInside(activity, document, { signer, from })
      return inside === null || (inside.by === 'nobody' && inside.status !== 429) ? { by: 'later' } : inside
    }
    if (!signer.ok && signer.reason === 'bad-signature' && signer.key?.owner === activity.actor && isOld(signer.key)) {
      return { by: 'later' } // the key may have been replaced by its owner
    }
    const inside = await proveInside(activity, document, { signer, from })
    if (inside !== null) return inside
    if (signer.ok) return { by: 'nobody', status: 403, reason: 'signed by another actor' }
    return { by: 'nobody', status: 401, reason: signer.reason }
  }

  /** By the signature or proof in the document; null if there is none. */
  async function proveInside(
    activity: ActivityDocument,
    document: JsonObject,
    { signer, from }: { signer: InboundVerdict; from: string },
  ): Promise<Proof | null> {
    if (!activity.hasSignature && !activity.hasProof) return null
    // Checking is slow, and a duplicate has no effect.
    if (await incoming.knows({ activityId: activity.id, actorUrl: activity.actor })) return { by: 'before' }
    return await proveByDocument(document, { from, by: signer.ok ? new URL(signer.owner).host : from })
  }

  /** A forwarded activity: the HTTP signature is the forwarder's, the one inside the document its author's. */
  async function proveByDocument(document: JsonObject, { from, by }: { from: string; by: string }): Promise<Proof> {
    // Both are counted before the work; otherwise concurrent ones would all be checked.
    if (!failures.admits(from)) return { by: 'nobody', status: 401, reason: 'too many wrong signatures' }
    if (!proofs.admits(by)) {
      failures.giveBack(from)
      return TOO_MANY
    }
    const embedded = await verifyEmbedded(document, {
      findKey: keys.findFresh,
      checks,
      now: clock.now(),
      keepIdsMs: settings().keep_ids,
    })
    const isUndecided = !embedded.ok && (embedded.reason === 'unknown-key' || embedded.reason === 'busy')
    if (embedded.ok || isUndecided || embedded.reason === 'too-large') failures.giveBack(from)
    if (isUndecided) proofs.giveBack(by)
    if (embedded.ok) return { by: 'known', document: embedded.document, saidAt: embedded.saidAt, forwarded: true }
    switch (embedded.reason) {
      case 'unknown-key':
        return { by: 'later' }
      case 'busy':
        return TOO_MANY
      case 'too-large':
        return { by: 'nobody', status: 413, reason: 'document: too large to be canonicalised' }
      default:
        return {
          by: 'nobody',
          status: embedded.reason === 'not-by-actor' ? 403 : 401,
          reason: `document: ${embedded.reason}`,
        }
    }
  }

  function isOld(key: { fetchedAt: Date }): boolean {
    return clock.now().getTime() - key.fetchedAt.getTime() > settings().key_refetch_after
  }
}

/** True if a key id, an address or `acct:name@host`, is on the actor's server. */
function isOfServer(keyId: string, actor: string): boolean {
  return keyId.startsWith('acct:') ? hostOfKey(keyId) === new URL(actor).host : isSameOrigin(keyId, actor)
}
