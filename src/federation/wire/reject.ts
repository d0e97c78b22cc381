// Refused follows, and followers that were removed.

import type { JsonObject } from './context.ts'
import { buildAnswer, type FollowAnswer, type FollowDocument, readAnswer } from './follow.ts'
import type { Read } from './read.ts'

export const readReject = (document: unknown): Read<FollowAnswer> => readAnswer(document, 'Reject')

/** Says that `actor` is not, or no longer, followed. Goes to the personal inbox. */
export const buildReject = (input: { id: string; actor: string; follow: FollowDocument }): JsonObject =>
  buildAnswer({ type: 'Reject', ...input })
