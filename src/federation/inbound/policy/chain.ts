// The policy of the inbox: the ordered checks that decide whether an activity is accepted. Pure. It does not check signatures: they tell
// the sender, and the chain decides about the activity.

import type { Reason } from '../../../actors/inbound-decision/index.ts'
import type { Facts } from './facts.ts'

export type Decision =
  | { verdict: 'pass' }
  | { verdict: 'refuse'; reason: Reason; status: 403 | 413 }
  | { verdict: 'later'; reason: Reason; retryAfterMs: number }
  | { verdict: 'drop'; reason: Reason }
  | { verdict: 'hold'; reason: Reason }
  | { verdict: 'tag'; reason: Reason; tags: readonly string[] }

export type Refusal = Exclude<Decision, { verdict: 'pass' }>

export interface Step {
  name: string
  decide(facts: Facts): Decision
}

const PASS = { verdict: 'pass' } as const
const step = (name: string, decide: Step['decide']): Step => ({ name, decide })
const refuse = (reason: Reason, status: 403 | 413 = 403): Decision => ({ verdict: 'refuse', reason, status })
const drop = (reason: Reason): Decision => ({ verdict: 'drop', reason })

/** Size first, since reading costs: the sender of too much is not even identified. */
export const sizeOfBody = step('size of body', ({ body }) => (body && body.bytes > body.max ? refuse('body_too_large', 413) : PASS))

/** A server that forwards an activity of a blocked actor did nothing wrong, and must not see errors. */
export const blockedServer = step('blocked server', ({ blocked }) => {
  if (!blocked?.isServer) return PASS
  return blocked.isForwarded ? drop('blocked_server') : refuse('blocked_server')
})

export const blockedActor = step('blocked actor', ({ blocked }) => {
  if (!blocked?.isActor) return PASS
  return blocked.isForwarded ? drop('blocked_actor') : refuse('blocked_actor')
})

/** Comments and reports are short; larger ones would be parsed, cleaned and stored for nothing. */
export const sizeOfRemark = step('size of comment', ({ remark }) =>
  remark && remark.bytes > remark.max ? refuse('comment_too_large', 413) : PASS,
)

export const ourActor = step('our own actor', ({ isOurActor }) => (isOurActor ? refuse('our_own_actor') : PASS))

export const foreignId = step('id of another server', ({ isIdForeign }) => (isIdForeign ? drop('id_of_another_server') : PASS))

/**
 * If several limits are exceeded, the longest one gives Retry-After. Excess reports are dropped without an error: their window is long, and
 * a sender that has to wait may hold back everything else.
 */
export const rateOfHost = step('rate of host', ({ counts = [] }) => {
  const tooMany = counts.filter(({ count, max }) => count > max)
  const [longest] = tooMany.filter(({ reason }) => reason !== 'too_many_reports').sort((a, b) => b.endsInMs - a.endsInMs)
  if (longest) return { verdict: 'later', reason: longest.reason, retryAfterMs: longest.endsInMs }
  return tooMany.length > 0 ? drop('too_many_reports') : PASS
})

/** A friend shares something of a blocked actor. */
export const blockedSubject = step('blocked subject', ({ subject }) => {
  if (subject?.isServer) return drop('about_blocked_server')
  return subject?.isActor ? drop('about_blocked_actor') : PASS
})

/** A repeated report of the same object is more work for moderators and no news. */
export const sameReport = step('same report', ({ report }) => (report?.isPending ? drop('reported_already') : PASS))

/** Flags are counted on arrival, but one Flag may report many objects, and several processes may receive. */
export const reportsOfHost = step('reports of host', ({ report }) =>
  report && report.inHour >= report.max ? drop('too_many_reports') : PASS,
)

export const pendingComment = step('held comment', ({ comment }) => {
  if (!comment?.isPendingReview) return PASS
  return { verdict: 'hold', reason: comment.isPendingByTags ? 'held_by_tags' : 'needs_approval' }
})

export const automaticTags = step('automatic tags', ({ comment }) => {
  return comment && comment.tags.length > 0 ? { verdict: 'tag', reason: 'tagged', tags: comment.tags } : PASS
})

/** In this order. */
export const CHAIN: readonly Step[] = [
  sizeOfBody,
  blockedServer,
  blockedActor,
  sizeOfRemark,
  ourActor,
  foreignId,
  rateOfHost,
  blockedSubject,
  sameReport,
  reportsOfHost,
  pendingComment,
  automaticTags,
]

/** The first decision other than to pass. */
export function decide(facts: Facts): Decision {
  for (const { decide: look } of CHAIN) {
    const decision = look(facts)
    if (decision.verdict !== 'pass') return decision
  }
  return PASS
}
