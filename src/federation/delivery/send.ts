// Sends one delivery: signed now with the actor's stored key, and posted once.

import { LRUCache } from 'lru-cache'
import type { Send, WaitingDelivery } from '../../actors/delivery/index.ts'
import type { FederationDeps } from '../deps.ts'
import { signOutgoing } from '../security/index.ts'
import { outcomeOf, outcomeOfError } from './answers.ts'
import { type FollowerDigest, makeFollowerDigests } from './follower-digests.ts'

const HEADERS = {
  'content-type': 'application/activity+json',
  accept: 'application/activity+json, application/ld+json',
}
const LARGEST_ANSWER = 65_536
const DOCUMENTS = 1000

export function makeSend(deps: FederationDeps): Send {
  const { http, keys, clock, config } = deps
  const synchronization = makeSynchronization(deps, makeFollowerDigests(deps))
  return async (delivery, profile, signal) => {
    const { actorId, inboxUrl, body } = delivery
    try {
      const key = await keys.forRequests(actorId)
      const covered = await synchronization(delivery, key.keyId.split('#', 1)[0] ?? '')
      const request = { method: 'POST', url: inboxUrl, headers: HEADERS, covered, body }
      const headers = await signOutgoing({ ...request, key, profile, now: clock.now() })
      const answer = await http.fetch(inboxUrl, {
        method: 'POST',
        headers,
        body,
        timeoutMs: config().vireo.federation.delivery.timeout,
        maxBytes: LARGEST_ANSWER,
        redirect: 'manual',
        signal,
      })
      return outcomeOf(answer, clock.now())
    } catch (error) {
      return outcomeOfError(error)
    }
  }
}

/** The header of FEP-8fcf for activities addressed to the sender's followers; none for others. */
function makeSynchronization({ urls, config }: FederationDeps, digestOf: FollowerDigest) {
  /** The recipients of a document, cached: thousands of deliveries share one. */
  const audiences = new LRUCache<string, string[], string>({
    max: DOCUMENTS,
    memoMethod(_activityId, _stale, { context: body }) {
      const { to, cc }: { to?: unknown; cc?: unknown } = JSON.parse(body)
      return [to, cc].flat().filter((address) => typeof address === 'string')
    },
  })

  return async (delivery: WaitingDelivery, actorUrl: string): Promise<Record<string, string>> => {
    if (!config().vireo.federation.delivery.synchronize_followers) return {}
    const followers = urls.actorCollection(actorUrl, 'followers')
    if (!audiences.memo(delivery.activityId, { context: delivery.body }).includes(followers)) return {}
    const digest = await digestOf(delivery.actorId, new URL(delivery.inboxUrl).origin)
    if (digest === null) return {}
    const url = urls.followerSynchronization(actorUrl)
    return { 'collection-synchronization': `collectionId="${followers}", url="${url}", digest="${digest}"` }
  }
}
