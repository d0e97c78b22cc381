// Common part of likes and dislikes.

import { type Audience, buildActivity, readActivity } from './activity.ts'
import type { JsonObject } from './context.ts'
import type { Read } from './read.ts'

export interface RateDocument extends Audience {
  id: string
  actor: string
  /** The video. */
  target: string
}

/** Emoji reactions (FEP-c0e0) count as likes. */
const TYPES = { Like: ['Like', 'EmojiReact'], Dislike: ['Dislike'] }

export function readRate(document: unknown, type: 'Like' | 'Dislike'): Read<RateDocument> {
  const read = readActivity(document)
  if (!read.ok) return read
  const { id, actor, object, to, cc } = read.value
  if (!TYPES[type].includes(read.value.type)) return { ok: false, problem: `not a ${type}` }
  return object?.id ? { ok: true, value: { id, actor, target: object.id, to, cc } } : { ok: false, problem: 'object: missing' }
}

export function buildRate(type: 'Like' | 'Dislike', input: RateDocument): JsonObject {
  const { id, actor, target, to, cc } = input
  return buildActivity({ type, id, actor, object: target, audience: { to, cc } })
}
