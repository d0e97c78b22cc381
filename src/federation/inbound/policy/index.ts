// Runs the policy of the inbox: evaluates the chain with the known facts, and logs what it does not let pass.

import type { InboundJournal, NotedDecision } from '../../../actors/inbound-decision/index.ts'
import type { ActivityDocument } from '../../wire/index.ts'
import { type Decision, decide } from './chain.ts'
import type { Facts } from './facts.ts'
import { kindOf } from './kinds.ts'

export type { Decision, Refusal } from './chain.ts'
export type { Facts } from './facts.ts'
export { isRemark, kindOf } from './kinds.ts'
export { type CountOf, makeCountOf } from './rates.ts'

/** The subject of a decision, as far as it is known. */
export type About = Pick<NotedDecision, 'kind' | 'host' | 'actorUrl' | 'activityId'>

export type InboundPolicy = ReturnType<typeof makeInboundPolicy>

export function makeInboundPolicy({ note }: Pick<InboundJournal, 'note'>) {
  return {
    /** Decides about an activity by the known facts. */
    judge(facts: Facts, about: About): Decision {
      const decision = decide(facts)
      if (decision.verdict !== 'pass') note({ ...about, verdict: decision.verdict, reason: decision.reason })
      return decision
    },
    /** Logs a decision of other code: an invalid signature, or a guard of the domain. */
    note,
  }
}

/** `host`: of the sender, if it is known; otherwise of the claimed one. */
export const aboutActivity = (activity: ActivityDocument, host = new URL(activity.actor).host): About => ({
  kind: kindOf(activity),
  host,
  actorUrl: activity.actor,
  activityId: activity.id,
})
