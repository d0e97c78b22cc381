// Accepted follows.

import type { JsonObject } from './context.ts'
import { buildAnswer, type FollowAnswer, type FollowDocument, readAnswer } from './follow.ts'
import type { Read } from './read.ts'

export const readAccept = (document: unknown): Read<FollowAnswer> => readAnswer(document, 'Accept')

/** Confirms a follow by `actor`. Goes to the personal inbox: the reference ignores it in the shared one. */
export const buildAccept = (input: { id: string; actor: string; follow: FollowDocument }): JsonObject =>
  buildAnswer({ type: 'Accept', ...input })
