// Sends one delivery: signed with the actor's stored key at this moment, posted once.

import type { Send } from '../../actors/delivery/index.ts'
import type { FederationDeps } from '../deps.ts'
import { signOutgoing } from '../security/index.ts'
import { outcomeOf, outcomeOfError } from './answers.ts'

const HEADERS = {
  'content-type': 'application/activity+json',
  accept: 'application/activity+json, application/ld+json',
}
const LARGEST_ANSWER = 65_536

export function makeSend(deps: FederationDeps): Send {
  const { http, keys, clock, config } = deps
  return async ({ actorId, inboxUrl, body }, profile, signal) => {
    try {
      const key = await keys.forRequests(actorId)
      const now = clock.now()
      const headers = await signOutgoing({ method: 'POST', url: inboxUrl, headers: HEADERS, body, key, profile, now })
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
