// Known facts about an activity when the chain runs. More become known later: a step whose facts are missing lets everything pass.

import type { ReceivedReport } from '../../../actors/abuse/index.ts'
import type { Reason } from '../../../actors/inbound-decision/index.ts'
import type { Blocks } from '../../blocked.ts'

export interface Facts {
  /** Bytes of the posted body, and the limit. */
  body?: { bytes: number; max: number }
  /** The same for an activity about a comment, or a report. */
  remark?: { bytes: number; max: number }
  /** Whether the instance blocks the actor. `isForwarded`: forwarded by a known server that is not blocked. */
  blocked?: Blocks & { isForwarded: boolean }
  /** True if the actor claims to be local. */
  isOurActor?: boolean
  /** True if the id of the activity is on another server than its actor. */
  isIdForeign?: boolean
  /** Counts of the sender in the current windows, including this activity. */
  counts?: readonly Count[]
  /** The same for the shared object: its server, and its owner. */
  subject?: Blocks
  report?: ReceivedReport
  comment?: CommentFacts
}

export interface Count {
  reason: Extract<Reason, `too_many_${string}`>
  count: number
  max: number
  /** Time until the window ends. */
  endsInMs: number
}

export interface CommentFacts {
  /** True if it is pending review, as the video demands, or only because of its tags. */
  isPendingReview: boolean
  isPendingByTags: boolean
  /** Automatic tags by the lists of the instance. */
  tags: readonly string[]
}
