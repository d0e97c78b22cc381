// What is known of an activity when the chain is asked about it. More becomes known on its way in: a step whose facts are not
// there yet lets everything pass.

import type { ReceivedReport } from '../../../actors/abuse/index.ts'
import type { Reason } from '../../../actors/inbound-decision/index.ts'
import type { Blocks } from '../../blocked.ts'

export interface Facts {
  /** Bytes of what was posted, and how many it may have. */
  body?: { bytes: number; max: number }
  /** The same of an activity that is about a comment, or a report. */
  remark?: { bytes: number; max: number }
  /** Whether the instance blocks who speaks. `isPassedOn`: by somebody who is known and not blocked. */
  blocked?: Blocks & { isPassedOn: boolean }
  /** The actor says to be a local one. */
  isOurActor?: boolean
  /** The activity is named after a server that is not its actor's. */
  isIdForeign?: boolean
  /** How often its sender did as much in the window that is open, this time included. */
  counts?: readonly Count[]
  /** The same of what it shows to others: its server, and its owner. */
  subject?: Blocks
  report?: ReceivedReport
  comment?: CommentFacts
}

export interface Count {
  reason: Extract<Reason, `too_many_${string}`>
  count: number
  max: number
  /** Until the window ends. */
  endsInMs: number
}

export interface CommentFacts {
  /** It is kept back until somebody approves it, as the video wants; or but for its tags it would be shown. */
  isHeld: boolean
  isHeldByTags: boolean
  /** Automatic tags that it got, by the lists of the instance. */
  tags: readonly string[]
}
