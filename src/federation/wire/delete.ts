// Deletions: of a video, a comment, a playlist, or the actor itself.

import { type Audience, buildActivity, readActivity } from './activity.ts'
import type { JsonObject } from './context.ts'
import type { Read } from './read.ts'

export interface DeleteDocument extends Audience {
  id: string
  actor: string
  /** The id of the deleted object. Others send a Tombstone; only its id counts. */
  target: string
}

export function readDelete(document: unknown): Read<DeleteDocument> {
  const read = readActivity(document)
  if (!read.ok) return read
  const { id, type, actor, object, to, cc } = read.value
  if (type !== 'Delete') return { ok: false, problem: 'not a Delete' }
  return object?.id ? { ok: true, value: { id, actor, target: object.id, to, cc } } : { ok: false, problem: 'object: missing' }
}

/** The Delete of a playlist has no recipients, as in the reference. */
export function buildDelete(input: Omit<DeleteDocument, keyof Audience> & (Audience | { to?: never })): JsonObject {
  const { id, actor, target } = input
  const audience = input.to === undefined ? undefined : { to: input.to, cc: input.cc }
  return buildActivity({ type: 'Delete', id, actor, object: target, audience })
}
