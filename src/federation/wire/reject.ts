// Rejected follows, and removed followers.

import type { JsonObject } from './context.ts'
import { buildAnswer, type FollowAnswer, type FollowDocument, readAnswer } from './follow.ts'
import type { Read } from './read.ts'

export const readReject = (document: unknown): Read<FollowAnswer> => readAnswer(document, 'Reject')

/** Rejects or ends a follow. Goes to the personal inbox. */
export const buildReject = (input: { id: string; actor: string; follow: FollowDocument }): JsonObject =>
  buildAnswer({ type: 'Reject', ...input })
