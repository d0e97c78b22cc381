// The policy of the inbox at work: the chain is asked with what is known, and what it does not let pass is noted.

import type { InboundJournal, NotedDecision } from '../../../actors/inbound-decision/index.ts'
import type { ActivityDocument } from '../../wire/index.ts'
import { type Decision, decide } from './chain.ts'
import type { Facts } from './facts.ts'
import { kindOf } from './kinds.ts'

export type { Decision, Refusal } from './chain.ts'
export type { Facts } from './facts.ts'
export { isRemark, kindOf } from './kinds.ts'
export { type CountOf, makeCountOf } from './rates.ts'

/** What a decision is about, as far as it is known. */
export type About = Pick<NotedDecision, 'kind' | 'host' | 'actorUrl' | 'activityId'>

export interface InboundPolicy {
  /** What becomes of an activity, by all that is known of it. */
  judge(facts: Facts, about: About): Decision
  /** What was decided elsewhere: by a signature that does not hold, or by the guards of the domain. */
  note: InboundJournal['note']
}

export function makeInboundPolicy({ note }: Pick<InboundJournal, 'note'>): InboundPolicy {
  return {
    judge(facts, about) {
      const decision = decide(facts)
      if (decision.verdict !== 'pass') note({ ...about, verdict: decision.verdict, reason: decision.reason })
      return decision
    },
    note,
  }
}

/** `host`: of who sent it, when that is known; else of who is said to. */
export const aboutActivity = (activity: ActivityDocument, host = new URL(activity.actor).host): About => ({
  kind: kindOf(activity),
  host,
  actorUrl: activity.actor,
  activityId: activity.id,
})
